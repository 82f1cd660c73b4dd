import { OperatorError } from './operator-error.ts'

/** Everything that the environment can set, read once at the start. */
export type Config = {
  readonly baseUrl: string | undefined
  readonly databaseUrl: string | undefined
  readonly rootKey: string | undefined
  readonly host: string | undefined
  readonly port: number | undefined
  readonly dataDir: string | undefined
  readonly trustProxy: readonly string[]
  readonly webhookAllow: string | undefined
  readonly metricsPort: number | undefined
  readonly databaseConnections: number
}

const known = new Set([
  'ENROLMENT_BASE_URL',
  'ENROLMENT_DATA',
  'ENROLMENT_DATABASE_CONNECTIONS',
  'ENROLMENT_METRICS_PORT',
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
  const { DATABASE_URL: databaseUrl, HOST: host } = environment
  if (databaseUrl !== undefined && !/^postgres(ql)?:\/\//.test(databaseUrl)) {
    throw new OperatorError(
      'DATABASE_URL must be an address like postgres://user:password@host:5432/database.',
    )
  }
  return {
    baseUrl: readBaseUrl(environment['ENROLMENT_BASE_URL']),
    databaseUrl,
    rootKey: environment['ENROLMENT_ROOT_KEY'],
    host: host === '' ? undefined : host,
    port: readPort('PORT', environment['PORT']),
    dataDir: environment['ENROLMENT_DATA'] || undefined,
    trustProxy: readList(environment['ENROLMENT_TRUST_PROXY']),
    webhookAllow: environment['ENROLMENT_WEBHOOK_ALLOW'] || undefined,
    metricsPort: readPort('ENROLMENT_METRICS_PORT', environment['ENROLMENT_METRICS_PORT']),
    databaseConnections:
      readCount('ENROLMENT_DATABASE_CONNECTIONS', environment['ENROLMENT_DATABASE_CONNECTIONS']) ?? 10,
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
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new OperatorError(`${name} must be a number from 1 to 999.`)
  return Number(text)
}

const readList = (text: string | undefined): string[] =>
  (text ?? '')
    .split(',')
    .map(item => item.trim())
    .filter(Boolean)
