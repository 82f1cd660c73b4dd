import type { Locale } from '@benefit-enrolment/contract'

/** A document to read, as a link to a file that the service serves. */
export type DocumentLink = {
  readonly title: string
  readonly address: string
  /** The language it is written in. */
  readonly language: Locale
}

/** What a person must be shown about a benefit besides what it pays; absent parts are not shown. */
export type Coverage = {
  readonly insurer?: { readonly name: string; readonly licence: string } | undefined
  readonly waiting?: { readonly days: number; readonly text?: string | undefined } | undefined
  readonly documents: readonly DocumentLink[]
}

/** What a holder does to use a benefit, and whom they reach. */
export type HowToUseWords = {
  readonly text: string
  readonly phone?: string | undefined
  readonly url?: string | undefined
  readonly email?: string | undefined
}

/** A benefit that a member has, or had until lately, with all that is to be read about it. */
export type HeldBenefit = {
  readonly name: string
  readonly displayname: string
  readonly pays: readonly string[]
  readonly coverage?: Coverage | undefined
  /** The member number that the insurer gave for it; absent until it gave one. */
  readonly memberid?: string | undefined
  readonly howtouse?: HowToUseWords | undefined
  /** For cover that has ended: its last day, and the last day on which it can still be used for what happened before. */
  readonly ended?: { readonly on: string; readonly until: string } | undefined
  readonly isOpen: boolean
}
