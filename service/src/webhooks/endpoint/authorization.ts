/** How an endpoint knows that a delivery is ours: the three kinds of credentials, and what a request may say of them. */
import { type AddressRules, checkWebhookUrl } from '../egress/address.ts'

/** The credentials of one pair. An access token by OAuth 2 is fetched when it is needed, and never stored. */
export type Credentials =
  | { readonly kind: 'basic'; readonly username: string; readonly password: string }
  | { readonly kind: 'bearer'; readonly token: string }
  | ClientCredentials

/** Client credentials for a token endpoint (RFC 6749 §4.4). */
export type ClientCredentials = {
  readonly kind: 'oauth2'
  readonly tokenurl: string
  readonly clientid: string
  readonly clientsecret: string
  readonly scope: string
}

type Part = 'username' | 'password' | 'token' | 'tokenurl' | 'clientid' | 'clientsecret' | 'scope'

/** The part of a request that is about credentials. */
export type GivenCredentials = {
  readonly authorization?: Credentials['kind'] | undefined
} & { readonly [Name in Part]?: string | undefined }

/** What is wrong with one field, in a sentence that never repeats its value. */
export type Fault = { readonly field: string; readonly code: string; readonly message: string }

const PARTS: Readonly<Record<Credentials['kind'], readonly Part[]>> = {
  basic: ['username', 'password'],
  bearer: ['token'],
  oauth2: ['tokenurl', 'clientid', 'clientsecret', 'scope'],
}
/** The secret of each kind of credentials. */
export const SECRETS: Readonly<Record<Credentials['kind'], Part>> = {
  basic: 'password',
  bearer: 'token',
  oauth2: 'clientsecret',
}

type Form = { readonly is: RegExp; readonly rule: string }
const TOKEN = { is: /^[\x21-\x7e]{1,4096}$/, rule: 'must be 1 to 4,096 visible ASCII characters' }
const CLIENT = { is: /^[\x20-\x7e]{1,1024}$/, rule: 'must be 1 to 1,024 ASCII characters' }
const FORMS: Readonly<Record<Exclude<Part, 'tokenurl'>, Form>> = {
  // By RFC 7617 the first colon ends the user name, and neither part may contain control characters.
  username: {
    is: /^[^:\p{Cc}\p{Cs}]{1,255}$/u,
    rule: 'must be 1 to 255 characters without a colon and control characters',
  },
  password: {
    is: /^[^\p{Cc}\p{Cs}]{1,255}$/u,
    rule: 'must be 1 to 255 characters without control characters',
  },
  token: TOKEN,
  clientid: CLIENT,
  clientsecret: CLIENT,
  scope: {
    is: /^(?=.{0,1024}$)([!#-[\]-~]+( [!#-[\]-~]+)*)?$/,
    rule: 'must be scopes of visible ASCII characters without quotes and backslashes, separated by one space',
  },
}

/** Every field of a request that is about credentials. */
export const CREDENTIAL_FIELDS: readonly (keyof GivenCredentials)[] = [
  'authorization',
  ...Object.values(PARTS).flat(),
]

/**
 * The credentials that a request gives; parts that it leaves out are those of `before`, if that is of the same kind. The
 * secret is never taken from there, so that nobody can have it sent to an address of their own. Refuses, field by field,
 * what is missing, wrong, or for another kind.
 */
export function readCredentials(
  given: GivenCredentials,
  before: Credentials | undefined,
  rules: AddressRules,
): { credentials: Credentials } | { faults: Fault[] } {
  const kind = given.authorization ?? before?.kind ?? 'basic'
  const own = before?.kind === kind ? (before as Partial<Record<Part, string>>) : {}
  const values = Object.fromEntries(
    PARTS[kind].map(name => [name, given[name] ?? (name === SECRETS[kind] ? undefined : own[name])]),
  ) as Partial<Record<Part, string>>
  const faults = [
    ...strayParts(given, kind),
    ...PARTS[kind].flatMap(name => faultOf(name, values[name], kind, rules)),
  ]
  if (faults.length > 0) return { faults }
  const { username = '', password = '', token = '', tokenurl = '', clientid = '' } = values
  if (kind === 'basic') return { credentials: { kind, username, password } }
  if (kind === 'bearer') return { credentials: { kind, token } }
  const { clientsecret = '', scope = '' } = values
  return { credentials: { kind, tokenurl, clientid, clientsecret, scope } }
}

function strayParts(given: GivenCredentials, kind: Credentials['kind']): Fault[] {
  return Object.entries(PARTS).flatMap(([other, names]) =>
    names
      .filter(name => other !== kind && given[name] !== undefined)
      .map(field => ({ field, code: 'choice', message: `${field} is for authorization ${other} only` })),
  )
}

function faultOf(field: Part, value: string | undefined, kind: string, rules: AddressRules): Fault[] {
  if (value === undefined)
    return field === 'scope'
      ? []
      : [{ field, code: 'required', message: `${field} is required for authorization ${kind}` }]
  if (field === 'tokenurl') return faultsOfUrl(field, value, rules)
  const { is, rule } = FORMS[field]
  return is.test(value) ? [] : [{ field, code: 'format', message: `${field} ${rule}` }]
}

/** What is wrong with an address that requests are to be sent to. */
export function faultsOfUrl(field: 'url' | 'tokenurl', text: string, rules: AddressRules): Fault[] {
  const checked = checkWebhookUrl(text, rules)
  return checked.ok ? [] : [{ field, code: 'address', message: checked.reason }]
}

/** The faults of a reading, or none. */
export function faultsIn(read: { faults: readonly Fault[] } | object): readonly Fault[] {
  return 'faults' in read ? read.faults : []
}
