import type { HelpContacts } from '../../partners/help-contacts.ts'
import type { Legal } from '../../partners/legal.ts'

/** The languages of the page. */
export type Locale = 'en' | 'es'

/** Who asks: the partner as its users know it. Its logo comes with its look (`theme.ts`). */
export type PartnerFace = {
  readonly displayname: string
}

/** What every view needs besides its own content. */
export type Page = {
  /** `frame`: shown by the embed, where no cookie exists and the script carries the session's handle. */
  readonly shell: 'hosted' | 'frame'
  readonly locale: Locale
  readonly partner: PartnerFace
  /** Where a person finds help; what is absent is not shown. */
  readonly help: HelpContacts
  /** What is linked and named at the foot; what is absent is not shown. */
  readonly legal?: Legal
  /** The partner's time zone (IANA), in which instants are told. */
  readonly zone: string
  /** Style sheets in order: the page's own, then the partner's theme if it has one. */
  readonly stylesheets: readonly string[]
  readonly script: string
  /** The sign that a browser shows beside the title. */
  readonly icon: string
  /** The page's root, such as `/register`: its forms and links lie below it. */
  readonly root: string
  /** Seconds until the session ends without a sign of life; absent where there is no session. */
  readonly idleseconds?: number
  /** Which step of how many; absent outside the journey. */
  readonly step?: { readonly at: number; readonly of: number }
  /** The draft's version that this page was made from; sent back, so that two tabs notice each other. */
  readonly draft?: string
  /** True when this page answers a form made from an older draft: the view says so. */
  readonly conflict?: boolean
}
