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
