import { resolve } from 'node:path'
import { type Config, readConfig } from '../config.ts'
import { type Database, type DatabaseAddress, openDatabase } from '../db/database.ts'
import { failureOf } from '../db/failure.ts'
import { migrate } from '../db/migrate.ts'
import { borrowEmbeddedDatabase } from '../embedded/borrow.ts'
import { holdsDatabase } from '../embedded/cluster.ts'
import { claimInstallation, type Installation } from '../installation.ts'
import { OperatorError } from '../operator-error.ts'
import { type Keyring, loadKeyring } from '../vault/keyring.ts'
import type { AddressRules } from '../webhooks/address.ts'
import { continueLog } from '../webhooks/log-continuity.ts'
import type { Input } from './command.ts'

/** What a command works on: the database of the operator, its keys and what kind it is. */
export type Workspace = {
  readonly config: Config
  readonly dataDir: string
  readonly database: Database
  readonly keyring: Keyring
  readonly installation: Installation
  readonly real: () => number
}

/** The data directory that the operator named, or ./data. */
export const dataDirOf = (input: Input, config: Config): string =>
  resolve(input.text('data') ?? config.dataDir ?? './data')

/** Whether there is a database for a command to work on: one is named, or lies in the data directory. */
export const hasDatabase = async (input: Input): Promise<boolean> => {
  const config = readConfig(input.environment)
  return config.databaseUrl !== undefined || (await holdsDatabase(dataDirOf(input, config)))
}

/**
 * Runs a command's work on its database: the one of DATABASE_URL, or the embedded one, running or not. The schema is
 * brought up first. Throws OperatorError when the database cannot be reached, and where there is none: only what makes
 * something new (`mayMake`) makes it, as all others would look in vain, perhaps in a directory that was misspelt.
 */
export const inWorkspace = async <T>(
  input: Input,
  work: (workspace: Workspace) => Promise<T>,
  { mayMake = false }: { mayMake?: boolean } = {},
): Promise<T> => {
  const config = readConfig(input.environment)
  const dataDir = dataDirOf(input, config)
  if (!mayMake && !(await hasDatabase(input))) {
    throw new OperatorError(
      `There is no database in ${dataDir}: name its directory with --data, or set DATABASE_URL. A new one is made by \`enrolment serve\`, \`dev\` or \`migrate\`.`,
    )
  }
  if (config.databaseUrl !== undefined)
    return onDatabase({ url: config.databaseUrl }, { config, dataDir }, work)
  const borrowed = await borrowEmbeddedDatabase({ dataDir })
  try {
    return await onDatabase(borrowed.address, { config, dataDir }, work)
  } finally {
    await borrowed.release()
  }
}

const onDatabase = async <T>(
  address: DatabaseAddress,
  place: { config: Config; dataDir: string },
  work: (workspace: Workspace) => Promise<T>,
): Promise<T> => {
  const real = Date.now
  const database = openDatabase(address, { max: 3, onError: () => {}, statementTimeoutMs: 60_000 })
  try {
    await reach(database)
    const keyring = loadKeyring({
      dataDir: place.dataDir,
      ...(place.config.rootKey === undefined ? {} : { rootKey: place.config.rootKey }),
    })
    const installation = await claimInstallation(database, { keyring, wanted: 'either', now: real() })
    return await work({ ...place, database, keyring, installation, real })
  } finally {
    await database.close()
  }
}

/**
 * Reaches the database, brings its schema up and lets its event log go on, wherever it comes from. Throws
 * OperatorError when the database cannot be reached.
 */
export const reach = async (database: Database): Promise<string[]> => {
  try {
    const applied = await migrate(database)
    await continueLog(database)
    return applied
  } catch (error) {
    const code = (error as { code?: string }).code ?? ''
    if (code === '42501') {
      throw new OperatorError(
        'The user of DATABASE_URL may not make tables: let it own the database, or run `enrolment migrate` as its owner.',
      )
    }
    if (failureOf(error).unavailable || ['28000', '28P01', '3D000'].includes(code)) {
      throw new OperatorError(
        `The database cannot be reached${code ? ` (${code})` : ''}: check DATABASE_URL and that the server runs.`,
      )
    }
    throw error
  }
}

/** Which addresses webhooks may reach: public ones, those the operator allows, and loopback in a sandbox. */
export const webhookRulesOf = (config: Config, installation: Installation): AddressRules => ({
  sandbox: installation.sandbox,
  allow: config.webhookAllow,
})
