import { OperatorError } from '../operator-error.ts'
import { checkWebAddress } from './help-contacts.ts'

/** The links and the line at the foot of a partner's pages; absent parts are not shown. */
export type Legal = {
  readonly privacyurl?: string
  readonly termsurl?: string
  /** The line that names who operates the benefits, such as "Administered by Tidewater Benefits LLC". */
  readonly operatorline?: { readonly en: string; readonly es: string }
}

/** The settings as the operator writes them; an empty text removes one. */
export type LegalSettings = {
  readonly privacyUrl?: string | undefined
  readonly termsUrl?: string | undefined
  readonly operatorLine?: string | undefined
  /** Absent: the English line. */
  readonly operatorLineEs?: string | undefined
}

/**
 * The links and the line with these settings applied. Throws OperatorError that names a setting that no page could
 * show.
 */
export function withLegal(known: Legal, settings: LegalSettings): Legal {
  const { privacyUrl = known.privacyurl, termsUrl = known.termsurl } = settings
  const { operatorLine: en = known.operatorline?.en } = settings
  if (!en && settings.operatorLineEs)
    throw new OperatorError('--operator-line-es says in Spanish what --operator-line says: give both.')
  const es =
    settings.operatorLineEs ?? (settings.operatorLine === undefined ? known.operatorline?.es : undefined)
  return {
    ...(privacyUrl && { privacyurl: checkWebAddress('--privacy-url', privacyUrl) }),
    ...(termsUrl && { termsurl: checkWebAddress('--terms-url', termsUrl) }),
    ...(en && {
      operatorline: {
        en: checkLine('--operator-line', en),
        es: checkLine('--operator-line-es', es || en),
      },
    }),
  }
}

function checkLine(option: string, text: string): string {
  if (text.length > 200 || /[\p{Cc}]/u.test(text))
    throw new OperatorError(`${option} must be one line of at most 200 characters.`)
  return text.trim()
}
