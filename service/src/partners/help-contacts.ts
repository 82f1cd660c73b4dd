import { OperatorError } from '../operator-error.ts'

/** Where a partner's users find help; absent contacts are not shown. */
export type HelpContacts = { readonly phone?: string; readonly email?: string; readonly url?: string }

/** The settings as the operator writes them; an empty text removes one. */
export type HelpSettings = {
  readonly phone?: string | undefined
  readonly email?: string | undefined
  readonly url?: string | undefined
}

/** The contacts with these settings applied. Throws OperatorError that names a setting that no page could show. */
export function withHelp(known: HelpContacts, settings: HelpSettings): HelpContacts {
  const { phone = known.phone, email = known.email, url = known.url } = settings
  return {
    ...(phone && { phone: checkPhone(phone) }),
    ...(email && { email: checkEmail(email) }),
    ...(url && { url: checkWebAddress('--help-url', url) }),
  }
}

function checkPhone(text: string): string {
  const digits = text.replace(/\D/g, '').length
  if (!/^\+?[\d ().-]{3,30}$/.test(text) || digits < 3 || digits > 15)
    throw new OperatorError('--help-phone must be a telephone number of 3 to 15 digits, like 1-800-555-0142.')
  return text
}

// A link to it must not contain more than the address.
function checkEmail(text: string): string {
  if (text.length > 254 || !/^[\w.+-]{1,64}@[a-z\d-]+(\.[a-z\d-]+)+$/i.test(text))
    throw new OperatorError('--help-email must be an email address like help@example.com.')
  return text
}

/** An address that pages link to. Throws OperatorError that names the option when it is not a web address. */
export function checkWebAddress(option: string, text: string): string {
  const url = /^[\x21-\x7e]{1,2048}$/.test(text) && URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'https:' || url.username || url.password)
    throw new OperatorError(`${option} must be an https address like https://example.com/help.`)
  return url.href
}
