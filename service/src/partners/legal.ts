import { OperatorError } from '../operator-error.ts'
import { checkWebAddress } from './help-contacts.ts'

/** What the page links and names for a partner; what is absent is not shown. */
export type Legal = {
  readonly privacyurl?: string
  readonly termsurl?: string
  /** The line that names who operates the benefits, such as "Administered by Tidewater Benefits LLC". */
  readonly operatorline?: { readonly en: string; readonly es: string }
}

/** What the operator may say of them; an empty text takes one away. */
export type LegalSettings = {
  readonly privacyUrl?: string | undefined
  readonly termsUrl?: string | undefined
  readonly operatorLine?: string | undefined
  /** Absent: the line as it is in English. */
  readonly operatorLineEs?: string | undefined
}

/** The facts with these settings. Throws OperatorError that names the setting which no page could show. */
export function withLegal(known: Legal, settings: LegalSettings): Legal {
  const { privacyUrl = known.privacyurl, termsUrl = known.termsurl } = settings
  const { operatorLine: en = known.operatorline?.en } = settings
  const es =
    settings.operatorLineEs ?? (settings.operatorLine === undefined ? known.operatorline?.es : undefined)
  return {
    ...(privacyUrl ? { privacyurl: checkWebAddress('--privacy-url', privacyUrl) } : {}),
    ...(termsUrl ? { termsurl: checkWebAddress('--terms-url', termsUrl) } : {}),
    ...(en
      ? {
          operatorline: {
            en: checkLine('--operator-line', en),
            es: checkLine('--operator-line-es', es || en),
          },
        }
      : {}),
  }
}

function checkLine(option: string, text: string): string {
  if (text.length > 200 || /[\p{Cc}]/u.test(text))
    throw new OperatorError(`${option} must be one line of at most 200 characters.`)
  return text.trim()
}
