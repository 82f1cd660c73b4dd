import {
  choiceOf,
  flag,
  type Input,
  type Option,
  readGiven,
  repeatable,
  UsageError,
  valued,
} from '@benefit-enrolment/command'
import { isScope, scopeNames } from '@benefit-enrolment/contract/names'
import type { Offer } from '../../catalogue/model.ts'
import { FONTS } from '../../look/look.ts'
import { clientIdOf } from '../../oauth/client-credentials.ts'
import type { PartnerSettings } from '../../partners/settings.ts'
import type { PartnerRow } from '../../partners/store.ts'

/** The options for the settings of a partner. */
export const settingOptions: Readonly<Record<string, Option>> = {
  name: valued('NAME', 'name of the partner'),
  alias: repeatable('NAME', 'further name that partnername may carry'),
  timezone: valued('ZONE', 'IANA time zone of its dates (default America/New_York)'),
  locale: valued('en|es', 'language of its pages (default en)'),
  origin: repeatable('ORIGIN', 'web origin that may embed the page'),
  redirect: repeatable('URL', 'address the page may lead back to'),
  'help-phone': valued('NUMBER', 'where its users find help; "" takes it away'),
  'help-email': valued('ADDRESS', 'the same by email'),
  'help-url': valued('URL', 'the same on the web, an https address'),
  'privacy-url': valued('URL', 'privacy notice that its pages link; "" takes it away'),
  'terms-url': valued('URL', 'terms that its pages link'),
  'operator-line': valued('TEXT', 'the line that names who operates the benefits'),
  'operator-line-es': valued('TEXT', 'the same in Spanish'),
  logo: valued('FILE', 'PNG or WebP mark for page and copy; "" takes it away'),
  scheme: valued('auto|light|dark', 'light or dark, or as the device says (auto)'),
  colors: valued('JSON', 'colors, like {"light":{"accent":"#0b4f9e"}}'),
  radius: valued('N', 'radius of corners, 0 to 24'),
  font: valued('NAME', `one of ${Object.keys(FONTS).join(', ')}`),
  offer: repeatable('OFFER', 'offer it may give (default: all offers)'),
  scope: repeatable(
    'SCOPE',
    'scope it may ask for (default: all but beneficiaries:read and dependants:read)',
  ),
  retain: valued('YEARS', 'how long what was agreed and covered outlives an erasure, like 7y (default none)'),
  rate: valued('N/s', 'requests a second it may send (0/s takes the limit away)'),
  'api-key-optional': flag('x-api-key may be left out'),
  'api-key-required': flag('x-api-key must be sent (the default)'),
}

/** Options that say the opposite of each other; one of them would be lost in silence. */
const contradictions = [
  ['api-key-optional', 'api-key-required'],
  ['offer', 'all-offers'],
] as const

/** The settings in these options. Throws UsageError on values that a setting cannot have. */
export async function settingsOf(input: Input): Promise<PartnerSettings> {
  const list = (name: string) => (input.list(name).length > 0 ? input.list(name) : undefined)
  const rate = input.text('rate')
  const logo = input.text('logo')
  if (rate !== undefined && !/^\d{1,6}(\.\d+)?\/s$/.test(rate))
    throw new UsageError('--rate must look like 100/s; see --help.')
  for (const [one, other] of contradictions) {
    if ((input.flag(one) || input.list(one).length > 0) && input.flag(other))
      throw new UsageError(`Give --${one} or --${other}, not both; see --help.`)
  }
  const unknown = input.list('scope').find(scope => !isScope(scope))
  if (unknown !== undefined)
    throw new UsageError(
      `--scope: there is no scope "${unknown}"; there are ${scopeNames.join(', ')}; see --help.`,
    )
  return {
    name: input.text('name'),
    aliases: list('alias'),
    timezone: input.text('timezone'),
    locale: choiceOf(input, 'locale', ['en', 'es']),
    origins: list('origin'),
    redirects: list('redirect'),
    help: { phone: input.text('help-phone'), email: input.text('help-email'), url: input.text('help-url') },
    legal: {
      privacyUrl: input.text('privacy-url'),
      termsUrl: input.text('terms-url'),
      operatorLine: input.text('operator-line'),
      operatorLineEs: input.text('operator-line-es'),
    },
    look: {
      scheme: input.text('scheme'),
      colors: input.text('colors'),
      radius: input.text('radius'),
      font: input.text('font'),
    },
    logo: logo ? readGiven(logo, `The file ${logo} of --logo`) : logo === undefined ? undefined : '',
    offers: input.flag('all-offers') ? [] : list('offer'),
    retain: input.text('retain'),
    scopes: list('scope'),
    ratePerSecond: rate === undefined ? undefined : Number(rate.slice(0, -2)),
    apiKeyOptional: input.flag('api-key-optional')
      ? true
      : input.flag('api-key-required')
        ? false
        : undefined,
    isDisabled: input.flag('enable') ? false : undefined,
  }
}

/** A partner as the commands print it. */
export function viewPartner(row: PartnerRow, offers: readonly Offer[]) {
  return {
    partnerid: row.partner_id,
    partnername: row.name,
    aliases: row.aliases,
    clientid: clientIdOf(row.partner_id),
    timezone: row.timezone,
    locale: row.locale,
    origins: row.origins,
    redirects: row.redirects,
    help: row.help,
    legal: row.legal,
    look: row.look,
    offers: offers
      .filter(offer => row.offers === null || row.offers.includes(offer.offer))
      .map(offer => ({ offer: offer.offer, rank: offer.rank })),
    retain: row.retain ?? 'none',
    scopes: row.scopes ?? 'default',
    apikeyoptional: row.api_key_optional,
    ratepersecond: row.rate_per_second,
    disabled: row.disabled_at !== null,
    createdat: new Date(row.created_at).toISOString(),
  }
}
