import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import type { RequestLimits } from '@benefit-enrolment/contract'
import { YEAR_MS } from './calendar/time.ts'
import { LANGUAGES, type Language } from './catalogue/model.ts'
import {
  isDatabaseUrl,
  readBaseUrl,
  readConsoleUrl,
  readContact,
  readNetworks,
  readProxy,
} from './config-addresses.ts'
import { languageNamed } from './http/locale.ts'
import { defaultRequestLimits } from './http/request-limits.ts'
import { defaultTurnLimits } from './http/shedding/shedding.ts'
import type { TurnLimits } from './http/shedding/turns.ts'
import { type LogLevel, logLevels } from './log.ts'
import { OperatorError } from './operator-error.ts'
import { readRootKeys } from './vault/keyring.ts'
import { type AllowedRange, parseAllowList } from './webhooks/egress/address.ts'
import type { EgressProxy } from './webhooks/egress/connect.ts'

/** Everything that the environment can set, read once at the start. */
export type Config = {
  readonly baseUrl: string | undefined
  readonly databaseUrl: string | undefined
  readonly rootKey: string | undefined
  readonly host: string | undefined
  readonly port: number | undefined
  readonly trustProxy: readonly string[]
  readonly webhookAllow: readonly AllowedRange[]
  /** The proxy through which all deliveries go. */
  readonly webhookProxy: EgressProxy | undefined
  readonly metrics: { readonly host: string; readonly port: number | undefined }
  /** The port of the operators' console; absent: the default of the command that opens it. */
  readonly consolePort: number | undefined
  /** The address by which operators reach the console; needed unless they reach it on loopback. */
  readonly consoleUrl: string | undefined
  /** The file that says how operators sign in at an identity provider. */
  readonly consoleSignIn: string | undefined
  /** `mailto:` or https: the contact for reports of vulnerabilities. */
  readonly securityContact: string | undefined
  /** Drafts of the page's languages that people may choose. */
  readonly drafts: readonly Language[]
  readonly databaseConnections: number
  /** How many processes `serve` runs. */
  readonly processes: number | 'auto'
  /** The lowest level that is logged. */
  readonly logLevel: LogLevel
  /** How long entries of the audit log are kept. */
  readonly auditKeepMs: number
  /** The list of erasures; absent: beside the embedded database, else none. */
  readonly erasures: string | undefined
  /** The folder of the files for insurers; absent: below the data of `dev`, else none. */
  readonly feeds: string | undefined
  readonly feedCommand: string | undefined
  /** For how long `serve` is not ready after SIGTERM but still serves. */
  readonly drainSeconds: number
  readonly limits: TurnLimits
  readonly requestLimits: RequestLimits
}

const known = new Set([
  'ENROLMENT_AUDIT_KEEP',
  'ENROLMENT_BASE_URL',
  'ENROLMENT_BODY_KIB',
  'ENROLMENT_BODY_NESTING',
  'ENROLMENT_CONSOLE_BASE_URL',
  'ENROLMENT_CONSOLE_PORT',
  'ENROLMENT_CONSOLE_SIGN_IN',
  'ENROLMENT_DATA',
  'ENROLMENT_DATABASE_CONNECTIONS',
  'ENROLMENT_DRAFTS',
  'ENROLMENT_DRAIN_SECONDS',
  'ENROLMENT_ERASURES',
  'ENROLMENT_FAILED_AUTHENTICATIONS',
  'ENROLMENT_FEEDS',
  'ENROLMENT_FEED_COMMAND',
  'ENROLMENT_HEADERS',
  'ENROLMENT_HEADERS_KIB',
  'ENROLMENT_HEADERS_SECONDS',
  'ENROLMENT_LOG',
  'ENROLMENT_METRICS_HOST',
  'ENROLMENT_METRICS_PORT',
  'ENROLMENT_PROCESSES',
  'ENROLMENT_REQUESTS_AT_ONCE',
  'ENROLMENT_REQUEST_SECONDS',
  'ENROLMENT_ROOT_KEY',
  'ENROLMENT_ROOT_KEY_FILE',
  'ENROLMENT_SECURITY_CONTACT',
  'ENROLMENT_TRUST_PROXY',
  'ENROLMENT_WAIT_SECONDS',
  'ENROLMENT_WEBHOOK_ALLOW',
  'ENROLMENT_WEBHOOK_PROXY',
])

/** Reads the environment. Throws OperatorError on an unknown or wrong variable, with a sentence that says what to do. */
export function readConfig(environment: Environment): Config {
  for (const name of Object.keys(environment)) {
    if (name.startsWith('ENROLMENT_') && !known.has(name))
      throw new OperatorError(
        `${name} is not a setting of this service; the settings are ${[...known].join(', ')}.`,
      )
  }
  const databaseUrl = secretOf(environment, 'DATABASE_URL')
  const rootKey = secretOf(environment, 'ENROLMENT_ROOT_KEY')
  const { HOST: host } = environment
  if (databaseUrl !== undefined && !isDatabaseUrl(databaseUrl))
    throw new OperatorError(
      'DATABASE_URL must be an address like postgres://user:password@host:5432/database. In user and password, percent-encode the characters % / ? # [ ] @ and : (a slash is %2F), or leave the password out and set PGPASSWORD.',
    )
  if (rootKey !== undefined) readRootKeys(rootKey)
  const readNumber = numbersIn(environment)
  return {
    baseUrl: readBaseUrl(environment['ENROLMENT_BASE_URL']),
    databaseUrl,
    rootKey,
    host: host === '' ? undefined : host,
    port: readPort('PORT', environment['PORT']),
    erasures: environment['ENROLMENT_ERASURES'] || undefined,
    feeds: environment['ENROLMENT_FEEDS'] || undefined,
    feedCommand: environment['ENROLMENT_FEED_COMMAND'] || undefined,
    trustProxy: readNetworks(environment['ENROLMENT_TRUST_PROXY']),
    webhookAllow: parseAllowList(environment['ENROLMENT_WEBHOOK_ALLOW'] ?? ''),
    webhookProxy: readProxy(environment['ENROLMENT_WEBHOOK_PROXY']),
    metrics: {
      host: readMetricsHost(environment['ENROLMENT_METRICS_HOST'] || '127.0.0.1'),
      port: readPort('ENROLMENT_METRICS_PORT', environment['ENROLMENT_METRICS_PORT']),
    },
    consolePort: readPort('ENROLMENT_CONSOLE_PORT', environment['ENROLMENT_CONSOLE_PORT']),
    consoleUrl: readConsoleUrl(environment['ENROLMENT_CONSOLE_BASE_URL']),
    consoleSignIn: environment['ENROLMENT_CONSOLE_SIGN_IN'] || undefined,
    securityContact: readContact(environment['ENROLMENT_SECURITY_CONTACT']),
    drafts: readDrafts(environment['ENROLMENT_DRAFTS'] || ''),
    logLevel: readLogLevel(environment['ENROLMENT_LOG'] || 'info'),
    // A stop by hand in a test or a terminal should not take long; an orchestrator with a slow load balancer sets more.
    drainSeconds: readNumber('ENROLMENT_DRAIN_SECONDS', [0, 300], 1),
    // Writes that wait for a row take up to five; with fewer than eight, one locked row could stop all requests.
    databaseConnections: readNumber('ENROLMENT_DATABASE_CONNECTIONS', [8, 999], 10),
    processes: readProcesses(environment['ENROLMENT_PROCESSES'] || 'auto'),
    auditKeepMs: readAuditKeep(environment['ENROLMENT_AUDIT_KEEP'] || '6y'),
    limits: readLimits(readNumber),
    requestLimits: readRequestLimits(readNumber),
  }
}

/** The setting of this name, or what is in the file that `NAME_FILE` names, as orchestrators mount secrets. */
function secretOf(environment: Environment, name: string): string | undefined {
  const path = environment[`${name}_FILE`]
  if (!path) return environment[name]
  if (environment[name] !== undefined)
    throw new OperatorError(`Both ${name} and ${name}_FILE are set: set one of them.`)
  try {
    // Secrets are mounted for a group (0440), whose members may read the keys. On Windows no mode says who may.
    if (process.platform !== 'win32' && (statSync(path).mode & 0o007) !== 0)
      throw new OperatorError(
        `Everybody on this machine may use the file ${path}, which ${name}_FILE names: take that right away, as by chmod o= on it, or by a mode of 0440 where it is mounted.`,
      )
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    if (error instanceof OperatorError) throw error
    const { code = '' } = error as NodeJS.ErrnoException
    throw new OperatorError(`The file ${path}, which ${name}_FILE names, cannot be read (${code}).`)
  }
}

/** Whether the text is a port of 0 to 65535. */
export function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535
}

function readPort(name: string, text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  if (!isPort(text)) throw new OperatorError(`${name} must be a port number from 0 to 65535.`)
  return Number(text)
}

function readLogLevel(text: string): LogLevel {
  const level = logLevels.find(one => one === text)
  if (!level) throw new OperatorError(`ENROLMENT_LOG must be one of ${logLevels.join(', ')}.`)
  return level
}

function readDrafts(text: string): readonly Language[] {
  const names = text.split(',').map(name => name.trim())
  return names.flatMap(name => {
    const language = languageNamed(name, LANGUAGES)
    if (name !== '' && !language)
      throw new OperatorError(
        `ENROLMENT_DRAFTS must name languages of the page, with commas: ${LANGUAGES.join(', ')}.`,
      )
    return language ?? []
  })
}

function readProcesses(text: string): Config['processes'] {
  if (text === 'auto') return text
  if (!/^[1-9]\d{0,2}$/.test(text))
    throw new OperatorError('ENROLMENT_PROCESSES must be auto or a number from 1 to 999.')
  return Number(text)
}

function readMetricsHost(text: string): string {
  if (isIP(text) === 0)
    throw new OperatorError('ENROLMENT_METRICS_HOST must be an address of this machine like 10.0.0.5 or ::1.')
  return text
}

type Environment = Readonly<Record<string, string | undefined>>
/** Reads a whole number within a range; `value` when nothing is given. */
type ReadNumber = (name: string, range: readonly [least: number, most: number], value: number) => number

function numbersIn(environment: Environment): ReadNumber {
  return (name, [least, most], value) => {
    const text = environment[name] || String(value)
    const count = /^\d{1,6}$/.test(text) ? Number(text) : -1
    if (count < least || count > most)
      throw new OperatorError(`${name} must be a number from ${least} to ${most}.`)
    return count
  }
}

function readLimits(read: ReadNumber): TurnLimits {
  return {
    atOnce: read('ENROLMENT_REQUESTS_AT_ONCE', [16, 10_000], defaultTurnLimits.atOnce),
    patienceMs: read('ENROLMENT_WAIT_SECONDS', [1, 60], defaultTurnLimits.patienceMs / 1000) * 1000,
  }
}

/** The lowest values still admit every request of the interface. */
function readRequestLimits(read: ReadNumber): RequestLimits {
  const own = defaultRequestLimits
  // No longer than the rotation of keys waits for requests that began before it.
  const requestSeconds = read('ENROLMENT_REQUEST_SECONDS', [1, 15], own.requestSeconds)
  const headersSeconds = Math.min(requestSeconds, own.headersSeconds)
  return {
    bodyKib: read('ENROLMENT_BODY_KIB', [16, 1024], own.bodyKib),
    bodyNesting: read('ENROLMENT_BODY_NESTING', [4, 64], own.bodyNesting),
    headers: read('ENROLMENT_HEADERS', [32, 1000], own.headers),
    headersKib: read('ENROLMENT_HEADERS_KIB', [4, 64], own.headersKib),
    headersSeconds: read('ENROLMENT_HEADERS_SECONDS', [1, requestSeconds], headersSeconds),
    requestSeconds,
    failedAuthentications: read('ENROLMENT_FAILED_AUTHENTICATIONS', [1, 100_000], own.failedAuthentications),
  }
}

/** Years like `6y`, 1 to 99, in milliseconds. */
function readAuditKeep(text: string): number {
  const years = /^([1-9]\d?)y$/.exec(text)?.[1]
  if (!years)
    throw new OperatorError('ENROLMENT_AUDIT_KEEP must be a number of years like 6y, from 1y to 99y.')
  return Number(years) * YEAR_MS
}
