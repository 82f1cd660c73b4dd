import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parse } from 'yaml'
import { OperatorError } from '../operator-error.ts'
import { ROLES, type Role } from './operator.ts'
import type { GroupRights } from './provider-groups.ts'

/** The identity provider at which operators sign in, and the rights of its groups. */
export type ProviderSettings = {
  readonly issuer: string
  readonly clientId: string
  /** Absent: a public client, which only PKCE protects. */
  readonly clientSecret: string | undefined
  readonly clientAuth: 'basic' | 'post'
  /** Its name on the sign-in page. */
  readonly name: string
  readonly scope: string
  /** The claim that holds the groups. */
  readonly claim: string
  readonly groups: readonly GroupRights[]
}

const VARIABLE = 'ENROLMENT_CONSOLE_SIGN_IN'
const keys = ['issuer', 'clientid', 'secretfile', 'clientauth', 'name', 'scopes', 'claim', 'groups']
const groupKeys = ['group', 'role', 'partners']
const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const MOST_SECRET_BYTES = 4096

/** Reads the file that ENROLMENT_CONSOLE_SIGN_IN names. Throws OperatorError that says what to correct. */
export function readProviderSettings(path: string): ProviderSettings {
  const document = readDocument(path)
  const unknown = Object.keys(document).find(key => !keys.includes(key))
  if (unknown !== undefined) throw wrong(`has ${unknown}, which is none of ${keys.join(', ')}`)
  const issuer = readIssuer(document['issuer'])
  const clientAuth = document['clientauth'] ?? 'basic'
  if (clientAuth !== 'basic' && clientAuth !== 'post') throw wrong('needs clientauth basic or post, or none')
  const scopes = document['scopes'] ?? ['openid', 'profile', 'email']
  if (!isTexts(scopes) || !scopes.includes('openid'))
    throw wrong('needs scopes as a list with openid in it, or none')
  const secretFile = document['secretfile']
  if (secretFile !== undefined && !isText(secretFile)) throw wrong('needs secretfile as the path of a file')
  return {
    issuer,
    clientAuth,
    scope: scopes.join(' '),
    clientId: textOf(document, 'clientid'),
    clientSecret: secretFile === undefined ? undefined : readSecret(resolve(dirname(path), secretFile)),
    name: document['name'] === undefined ? new URL(issuer).host : textOf(document, 'name'),
    claim: document['claim'] === undefined ? 'groups' : textOf(document, 'claim'),
    groups: readGroups(document['groups']),
  }
}

function readDocument(path: string): Record<string, unknown> {
  let document: unknown
  try {
    document = parse(readFileSync(path, 'utf8'))
  } catch (error) {
    const { code } = error as { code?: string }
    throw new OperatorError(`The file that ${VARIABLE} names cannot be read (${code ?? 'no YAML'}).`)
  }
  if (typeof document === 'object' && document !== null && !Array.isArray(document))
    return document as Record<string, unknown>
  throw wrong('must name issuer, clientid and groups')
}

/** Plain http is allowed only for tests and trials on loopback, where tokens never leave the machine. */
function readIssuer(issuer: unknown): string {
  const url = isText(issuer) && URL.canParse(issuer) ? new URL(issuer) : undefined
  const isLoopback = url !== undefined && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname)
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback)
  if (!isSafe || url.search || url.hash || url.username || url.password)
    throw wrong('needs issuer as an https address, as the provider writes it')
  return issuer as string
}

function readGroups(list: unknown): readonly GroupRights[] {
  if (!Array.isArray(list) || list.length === 0)
    throw wrong('needs groups: a list of group, role and partners')
  return list.map((one: unknown) => {
    const { group, role, partners, ...others } = (one ?? {}) as Record<string, unknown>
    const unknown = Object.keys(others)[0]
    if (unknown !== undefined)
      throw wrong(`has ${unknown} in a group, which is none of ${groupKeys.join(', ')}`)
    if (!isText(group)) throw wrong('needs the name of each group, in quotes where it is a number')
    if (!ROLES.some(known => known === role)) throw wrong(`needs role ${ROLES.join(', ')} for ${group}`)
    const isList = isTexts(partners) && partners.length > 0 && partners.every(id => uuidForm.test(id))
    if (partners !== undefined && !isList)
      throw wrong(`needs partners of ${group} as a list of their ids, or none for all`)
    if (role === 'developer' && !(isList && partners.length === 1))
      throw wrong(`needs the one partner of ${group}, as its role is developer`)
    return { group, role: role as Role, partners: isList ? partners.map(id => id.toLowerCase()) : undefined }
  })
}

function readSecret(path: string): string {
  let secret: string
  try {
    secret = readFileSync(path, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    const { code = 'unknown error' } = error as { code?: string }
    throw new OperatorError(`The secretfile in the file of ${VARIABLE} cannot be read (${code}).`)
  }
  if (secret !== '' && !/[\r\n]/.test(secret) && secret.length <= MOST_SECRET_BYTES) return secret
  throw new OperatorError(`The secretfile in the file of ${VARIABLE} must hold one line: the secret.`)
}

function textOf(document: Record<string, unknown>, key: string): string {
  const text = document[key]
  if (isText(text)) return text
  throw wrong(`needs ${key}`)
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() === value && value !== '' && value.length <= 1000
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText)
}

function wrong(what: string): OperatorError {
  return new OperatorError(`The file that ${VARIABLE} names ${what}; see docs/operating.md.`)
}
