/** The request of a link token (contract §11). */
export type LinkTokenRequest = {
  userid: string
  /** Default `registration`; for the others the user must be known. */
  purpose?: 'registration' | 'benefits' | 'swap' | 'offerchange' | ''
  /** The offer to show; one of yours. */
  offername?: string
  /** As Get Benefits With Status gave it: leads to the view of that benefit. */
  deeplinkdata?: string
  /** Where the page leads back to; must equal a registered redirect address exactly. */
  redirecturl?: string
  /** Who may embed; each must equal a registered origin exactly. Default: all that you registered. */
  origins?: string[]
  /** Default: your locale. */
  locale?: 'en' | 'es' | ''
  /** Default `hosted`. The token lives 15 minutes (embed, hosted), 24 hours (sms) or 7 days (email). */
  delivery?: 'embed' | 'hosted' | 'sms' | 'email' | ''
}

/** A link token, shown once (contract §11). */
export type LinkToken = {
  linktoken: string
  /** Where to send the user; null for `embed`, whose script takes the token. */
  linkurl: string | null
  sessionid: string
  /** `YYYY-MM-DDTHH:mm:ss.sssZ`. */
  expiresat: string
}

/** What a session came to, `exited` where nothing was done (contract §11). */
export type SessionResult = {
  sessionid: string
  userid: string
  outcome: 'enrolled' | 'swapped' | 'changed' | 'cancelled' | 'exited'
  /** What the user was shown to refer to. */
  reference: string | null
  completedat: string | null
}
