import type { Language } from '../../catalogue/model.ts'
import type { HelpContacts } from '../../partners/help-contacts.ts'
import type { Legal } from '../../partners/legal.ts'

/** The partner as its users know it. Its logo comes with its look (`look.ts`). */
type PartnerFace = {
  readonly displayname: string
}

/** Something in one language: a page, a visit, a copy. */
export type Localized = { readonly locale: Language }

/** What every view needs apart from its own content. */
export type Page = {
  /** `frame`: shown by the embed, where no cookie exists and the script keeps the session's handle. */
  readonly shell: 'hosted' | 'frame'
  readonly locale: Language
  /** The languages that people may choose. */
  readonly languages: readonly Language[]
  readonly partner: PartnerFace
  /** Where a person finds help; absent parts are not shown. */
  readonly help: HelpContacts
  /** The links and the line at the foot of the page; absent parts are not shown. */
  readonly legal?: Legal | undefined
  /** The partner's time zone (IANA), in which instants are shown. */
  readonly zone: string
  /** Style sheets in order: the page's own, then the partner's look if it has one. */
  readonly stylesheets: readonly string[]
  readonly script: string
  /** The icon that a browser shows beside the title. */
  readonly icon: string
  /** The page's root, such as `/register`: its forms and links are below it. */
  readonly root: string
  /** Seconds until an inactive session ends; absent when there is no session. */
  readonly idleseconds?: number
  /** The number of this step and of all steps; absent outside the registration. */
  readonly step?: { readonly at: number; readonly of: number } | undefined
  /**
   * The draft's version that this page was made from; the form sends it back, so that two tabs can detect each other's
   * changes.
   */
  readonly draft?: string
  /** Given when this page answers a form that was made from an older draft: what the person had typed into it. */
  readonly replaced?: readonly string[]
  /** Whether this is the first view of a person whose answers from before were kept. */
  readonly isresumed?: boolean
  /** Whether an operator made the link that opened the page. */
  readonly byoperator?: boolean
}
