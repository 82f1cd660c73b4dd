import ipaddr from 'ipaddr.js'
import { type AdmissionLimits, defaultLimits } from './http/admission.ts'
import { OperatorError } from './operator-error.ts'
import { readRootKeys } from './vault/keyring.ts'
import { type AllowedRange, parseAllowList } from './webhooks/address.ts'

/** Everything that the environment can set, read once at the start. */
export type Config = {
  readonly baseUrl: string | undefined
  readonly databaseUrl: string | undefined
  readonly rootKey: string | undefined
  readonly host: string | undefined
  readonly port: number | undefined
  readonly dataDir: string | undefined
  readonly trustProxy: readonly string[]
  readonly webhookAllow: readonly AllowedRange[]
  readonly metricsPort: number | undefined
  readonly databaseConnections: number
  readonly limits: AdmissionLimits
}

const known = new Set([
  'ENROLMENT_BASE_URL',
  'ENROLMENT_DATA',
  'ENROLMENT_DATABASE_CONNECTIONS',
  'ENROLMENT_LOOP_DELAY_MS',
  'ENROLMENT_METRICS_PORT',
  'ENROLMENT_REQUESTS_IN_FLIGHT',
  'ENROLMENT_REQUESTS_RESERVED',
  'ENROLMENT_ROOT_KEY',
  'ENROLMENT_TRUST_PROXY',
  'ENROLMENT_WEBHOOK_ALLOW',
])

/** Reads the environment. Throws OperatorError on an unknown or wrong variable, with a sentence that says what to do. */
export const readConfig = (environment: Readonly<Record<string, string | undefined>>): Config => {
  for (const name of Object.keys(environment)) {
    if (name.startsWith('ENROLMENT_') && !known.has(name)) {
      throw new OperatorError(
        `${name} is not a setting of this service; the settings are ${[...known].join(', ')}.`,
      )
    }
  }
  const { DATABASE_URL: databaseUrl, ENROLMENT_ROOT_KEY: rootKey, HOST: host } = environment
  if (databaseUrl !== undefined && !isDatabaseUrl(databaseUrl)) {
    throw new OperatorError(
      'DATABASE_URL must be an address like postgres://user:password@host:5432/database.',
    )
  }
  if (rootKey !== undefined) readRootKeys(rootKey)
  return {
    baseUrl: readBaseUrl(environment['ENROLMENT_BASE_URL']),
    databaseUrl,
    rootKey,
    host: host === '' ? undefined : host,
    port: readPort('PORT', environment['PORT']),
    dataDir: environment['ENROLMENT_DATA'] || undefined,
    trustProxy: readNetworks(environment['ENROLMENT_TRUST_PROXY']),
    webhookAllow: parseAllowList(environment['ENROLMENT_WEBHOOK_ALLOW'] ?? ''),
    metricsPort: readPort('ENROLMENT_METRICS_PORT', environment['ENROLMENT_METRICS_PORT']),
    databaseConnections:
      readCount('ENROLMENT_DATABASE_CONNECTIONS', environment['ENROLMENT_DATABASE_CONNECTIONS']) ?? 10,
    limits: readLimits(environment),
  }
}

const readBaseUrl = (text: string | undefined): string | undefined => {
  if (text === undefined) return undefined
  const wrong = new OperatorError(
    'ENROLMENT_BASE_URL must be an absolute address like https://benefits.example.com/stage, without query or user.',
  )
  if (!URL.canParse(text)) throw wrong
  const url = new URL(text)
  if (!['http:', 'https:'].includes(url.protocol) || url.search || url.hash || url.username || url.password)
    throw wrong
  return url.href.replace(/\/+$/, '')
}

/** Reads a port of 0 to 65535; `undefined` when nothing is given. Throws OperatorError otherwise. */
export const readPort = (name: string, text: string | undefined): number | undefined => {
  if (text === undefined || text === '') return undefined
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
    throw new OperatorError(`${name} must be a port number from 0 to 65535.`)
  }
  return Number(text)
}

const readCount = (name: string, text: string | undefined): number | undefined => {
  if (text === undefined || text === '') return undefined
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0
  // Writes that wait for a row take five of them; below that, one held row could stop everybody.
  if (count < 8) throw new OperatorError(`${name} must be a number from 8 to 999.`)
  return count
}

const readLimits = (environment: Readonly<Record<string, string | undefined>>): AdmissionLimits => {
  const read = (name: string, range: { least: number; most: number; value: number }): number => {
    const { least, most, value } = range
    const text = environment[name] || String(value)
    const count = /^\d{1,6}$/.test(text) ? Number(text) : -1
    if (count < least || count > most)
      throw new OperatorError(`${name} must be a number from ${least} to ${most}.`)
    return count
  }
  const inFlight = read('ENROLMENT_REQUESTS_IN_FLIGHT', {
    least: 100,
    most: 100_000,
    value: defaultLimits.inFlight,
  })
  return {
    inFlight,
    // A fifth, where only the whole is set.
    reserved: read('ENROLMENT_REQUESTS_RESERVED', {
      least: 0,
      most: Math.floor(inFlight / 2),
      value: Math.floor(inFlight / 5),
    }),
    loopDelayMs: read('ENROLMENT_LOOP_DELAY_MS', {
      least: 50,
      most: 10_000,
      value: defaultLimits.loopDelayMs,
    }),
  }
}

const readNetworks = (text: string | undefined): string[] => {
  const networks = (text ?? '')
    .split(',')
    .map(item => item.trim())
    .filter(Boolean)
  if (!networks.every(network => ipaddr.isValid(network) || ipaddr.isValidCIDR(network))) {
    throw new OperatorError(
      'ENROLMENT_TRUST_PROXY must be a list of addresses or networks like 10.0.0.0/8,192.0.2.7.',
    )
  }
  return networks
}

// A socket's directory may stand in the query, with nothing between @ and the slash.
const isDatabaseUrl = (text: string): boolean =>
  /^postgres(ql)?:\/\//.test(text) && URL.canParse(text.replace('@/', '@localhost/'))
