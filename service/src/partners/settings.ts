import { isScope, scopeNames } from '@benefit-enrolment/contract/names'
import { isZone } from '../calendar/calendar.ts'
import { ENDINGS, judgeFile } from '../files/file-kind.ts'
import { hashOf } from '../files/store.ts'
import { localeNamed } from '../http/locale.ts'
import { type LookSettings, withLook } from '../look/look.ts'
import { OperatorError } from '../operator-error.ts'
import type { SecretMode } from '../vault/secret.ts'
import { checkOrigin, checkRedirect } from './addresses.ts'
import { type HelpSettings, withHelp } from './help-contacts.ts'
import { type LegalSettings, withLegal } from './legal.ts'
import type { PartnerRow } from './store.ts'

/** The settings of a partner as the operator gives them; absent means unchanged, or the default for a new partner. */
export type PartnerSettings = {
  readonly name?: string | undefined
  readonly aliases?: readonly string[] | undefined
  readonly timezone?: string | undefined
  readonly locale?: string | undefined
  readonly origins?: readonly string[] | undefined
  readonly redirects?: readonly string[] | undefined
  readonly help?: HelpSettings | undefined
  readonly legal?: LegalSettings | undefined
  readonly look?: Omit<LookSettings, 'logo'> | undefined
  /** The partner's logo as a picture, or `''` to remove it. */
  readonly logo?: Buffer | '' | undefined
  /** Years such as `7y` for which some records are kept after an erasure; `none`: nothing is kept. */
  readonly retain?: string | undefined
  /** Names of offers; an empty list means all. */
  readonly offers?: readonly string[] | undefined
  readonly scopes?: readonly string[] | undefined
  readonly apiKeyOptional?: boolean | undefined
  /** Requests a second; 0 removes the limit. */
  readonly ratePerSecond?: number | undefined
  readonly isDisabled?: boolean | undefined
}

/** What changes of settings are compared with. */
type SettingsContext = {
  readonly mode: SecretMode
  readonly real: () => number
  /** The offers of today's catalogue; names are checked against it if it has any. */
  readonly knownOffers: readonly string[]
}

/** A partner with changed settings. Throws OperatorError when a setting is wrong, with a sentence that says what to do. */
export function withSettings(
  row: PartnerRow,
  settings: PartnerSettings,
  context: SettingsContext,
): PartnerRow {
  const { name = row.name, timezone = row.timezone, offers, scopes, ratePerSecond } = settings
  if (name.trim() === '' || name.length > 200 || /\p{Cc}/u.test(name))
    throw new OperatorError('A partner needs a --name of one line and at most 200 characters.')
  if (!isZone(timezone)) {
    throw new OperatorError(`"${timezone}" is not a time zone: give an IANA name such as America/New_York.`)
  }
  const locale = localeNamed(settings.locale ?? row.locale)
  if (!locale) throw new OperatorError('--locale must be en or es.')
  for (const offer of offers ?? []) {
    if (context.knownOffers.length > 0 && !context.knownOffers.includes(offer)) {
      throw new OperatorError(
        `There is no offer "${offer}" in the catalogue; there are ${context.knownOffers.join(', ')}.`,
      )
    }
  }
  for (const scope of scopes ?? []) {
    if (!isScope(scope))
      throw new OperatorError(`There is no scope "${scope}"; there are ${scopeNames.join(', ')}.`)
  }
  const { retain = row.retain ?? 'none' } = settings
  if (retain !== 'none' && !/^[1-9]\d?y$/.test(retain))
    throw new OperatorError('--retain must be a number of years like 7y, from 1y to 99y, or none.')
  if (ratePerSecond !== undefined && !(ratePerSecond >= 0))
    throw new OperatorError('--rate must look like 100/s.')
  const isSandbox = context.mode === 'sandbox'
  return {
    ...row,
    name,
    timezone,
    locale,
    retain: retain === 'none' ? null : retain,
    aliases: [...(settings.aliases ?? row.aliases)],
    origins: settings.origins?.map(origin => checkOrigin(origin, isSandbox)) ?? row.origins,
    redirects: settings.redirects?.map(redirect => checkRedirect(redirect, isSandbox)) ?? row.redirects,
    help: withHelp(row.help, settings.help ?? {}),
    legal: withLegal(row.legal, settings.legal ?? {}),
    look: withLook(row.look, { ...settings.look, logo: logoAddress(settings.logo) }),
    offers: offers === undefined ? row.offers : offers.length > 0 ? [...new Set(offers)] : null,
    scopes: scopes === undefined ? row.scopes : scopes.length > 0 ? [...new Set(scopes)] : null,
    api_key_optional: settings.apiKeyOptional ?? row.api_key_optional,
    rate_per_second: ratePerSecond === undefined ? row.rate_per_second : ratePerSecond || null,
    disabled_at:
      settings.isDisabled === undefined
        ? row.disabled_at
        : settings.isDisabled
          ? (row.disabled_at ?? context.real())
          : null,
  }
}

/** The path at which a logo will be served. Throws OperatorError when it is no picture or too large. */
function logoAddress(logo: Buffer | '' | undefined): string | undefined {
  if (logo === undefined || logo === '') return logo
  const judged = judgeFile(logo, ['image/png', 'image/webp'])
  if ('refused' in judged) throw new OperatorError(`The file of --logo ${judged.refused}.`)
  return `${hashOf(logo)}/logo.${ENDINGS[judged.mediaType]}`
}
