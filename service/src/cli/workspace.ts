import { userInfo } from 'node:os'
import { dataDirOf, type Input } from '@benefit-enrolment/command'
import { findRunningDatabase, holdsDatabase, withDatabase } from '@benefit-enrolment/embedded-postgres'
import { type AuditEntry, addEntries, addUnlessThere, entriesStatement, noPartner } from '../audit/entries.ts'
import { type Config, readConfig } from '../config.ts'
import { checkConnection } from '../db/connection-check.ts'
import { type Database, type DatabaseAddress, type Executor, openDatabase } from '../db/database.ts'
import type { Query } from '../db/sql.ts'
import { type Installation, loadKeyringFor, markInstallation } from '../installation.ts'
import { OperatorError } from '../operator-error.ts'
import { requirePartner } from '../partners/administer.ts'
import { partnerOf } from '../partners/keys.ts'
import type { Partner } from '../partners/partner.ts'
import type { Keyring } from '../vault/keyring.ts'
import type { SecretMode } from '../vault/secret.ts'
import { isUuid, uuidv7 } from '../vault/uuid.ts'
import type { AddressRules } from '../webhooks/egress/address.ts'
import { reach, type SchemaUse } from './reach.ts'

/** The environment of a command: the operator's database, its keys, and its kind. */
export type Workspace = {
  readonly config: Config
  readonly dataDir: string
  readonly database: Database
  readonly address: DatabaseAddress
  readonly keyring: Keyring
  readonly installation: Installation
  readonly mode: SecretMode
  readonly real: () => number
  /** Adds to the audit entry of this command. */
  readonly record: (more: Concerning) => void
  /**
   * The statement that puts this command on record as done, with what was said by `record` so far, to be committed with
   * what it does: a crash leaves neither without the other. Without it the entry is written once the command is done.
   */
  readonly alongside: () => Query
  /** Runs work in a transaction and puts this command on record there, unless the work found nothing to do (`false`). */
  readonly commit: <Done>(work: (tx: Executor) => Promise<Done>) => Promise<Done>
  /**
   * Puts on record, once, that this command is about to act where no transaction reaches, such as on a file: a crash
   * then leaves an entry with the result `begun` and none with `done`. Rejects when it cannot be written, and the
   * command must not act then.
   */
  readonly begin: () => Promise<void>
}

/** The user whom a command concerned, and the sealed reason. */
type Concerning = {
  readonly partnerId?: string
  readonly serviceId?: string
  readonly sealedReason?: Buffer
  /** What was done, if the command's name alone does not say it. */
  readonly action?: string
}

/** Whether there is a database for a command: DATABASE_URL names one, or the data directory contains one. */
export async function hasDatabase(input: Input): Promise<boolean> {
  const config = readConfig(input.environment)
  return config.databaseUrl !== undefined || (await holdsDatabase(dataDirOf(input)))
}

/**
 * Runs a command's work on its database: that of DATABASE_URL, or the embedded one, which a service runs, or which `starts` lets
 * the command start for its work. Throws OperatorError when the database cannot be reached, when its schema differs from this
 * version's, and when there is none, perhaps as the directory is misspelled.
 */
export async function inWorkspace<T>(
  input: Input,
  work: (workspace: Workspace) => Promise<T>,
  { schema = 'take', starts = false }: { schema?: SchemaUse; starts?: boolean } = {},
): Promise<T> {
  return onDatabase(input, { makes: false, starts }, async keyless => {
    await reach(keyless.database, schema)
    const { config, dataDir, database, real } = keyless
    const keyring = await loadKeyringFor(database, { dataDir, rootKey: config.rootKey })
    const installation = await markInstallation(database, { keyring, wanted: 'either', now: real() })
    const mode = installation.sandbox ? 'sandbox' : 'live'
    return recorded(input, { ...keyless, keyring, installation, mode }, work)
  })
}

/** Runs a command's work and records it: who, what, on whom, with what result. */
async function recorded<T>(
  input: Input,
  unrecorded: Omit<Workspace, 'record' | 'alongside' | 'commit' | 'begin'>,
  work: (workspace: Workspace) => Promise<T>,
): Promise<T> {
  const { database, real } = unrecorded
  const [first = ''] = input.positionals
  const isPartner = isUuid(first)
  let record: Concerning = {}
  let given: AuditEntry | undefined
  let begun: Promise<void> | undefined
  const entryOf = (result: string): AuditEntry => ({
    partnerId: isPartner ? first.toLowerCase() : noPartner,
    entryId: uuidv7(real()),
    at: real(),
    times: 1,
    actorKind: 'command',
    actor: systemUser(),
    // What was only tried is not on record as done.
    action: input.command + (input.flag('dry-run') ? ' --dry-run' : ''),
    result,
    ...record,
  })
  const alongside = () => {
    given ??= entryOf('done')
    return entriesStatement([given])
  }
  const workspace: Workspace = {
    ...unrecorded,
    record: more => {
      record = { ...record, ...more }
    },
    alongside,
    commit: work =>
      database.transaction(async tx => {
        const done = await work(tx)
        if (done !== false) await tx.query(alongside())
        return done
      }),
    begin: () => {
      begun ??= addEntries(database, [entryOf('begun')])
      return begun
    },
  }
  try {
    const done = await work(workspace)
    // A command that found nothing to do has committed nothing, and so not its entry.
    await addUnlessThere(database, given ?? entryOf('done'))
    return done
  } catch (error) {
    // The operator must read why the command failed, not that the audit entry could not be written either.
    await addEntries(database, [entryOf(error instanceof OperatorError ? 'refused' : 'failed')]).catch(
      () => undefined,
    )
    throw error
  }
}

/** The partner of this id. Throws OperatorError when there is none. */
export async function partnerIn(
  { database, keyring }: Pick<Workspace, 'database' | 'keyring'>,
  partnerId = '',
): Promise<Partner> {
  return partnerOf(await requirePartner(database, partnerId), keyring)
}

/**
 * Fixes the kind of the database, as the first secret is made that says for which kind it is. Throws OperatorError when the
 * keys are not those of this database.
 */
export async function fixKind({ database, keyring, mode, real }: Workspace): Promise<void> {
  await markInstallation(database, { keyring, wanted: mode, now: real() })
}

/** The system user that runs the command. */
export function systemUser(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? '')
  }
}

/** The environment of a command that needs no keys. */
type KeylessWorkspace = Pick<Workspace, 'config' | 'dataDir' | 'database' | 'address' | 'real'>

/**
 * Runs work on the operator's database without reading keys or the schema; otherwise like `inWorkspace`. With `makes` an
 * embedded one that does not exist is made.
 */
export async function onDatabase<T>(
  input: Input,
  { makes, starts }: { readonly makes: boolean; readonly starts: boolean },
  work: (keyless: KeylessWorkspace) => Promise<T>,
): Promise<T> {
  const config = readConfig(input.environment)
  const dataDir = dataDirOf(input)
  if (!makes && !(await hasDatabase(input)))
    throw new OperatorError(
      `There is no database in ${dataDir}: name its directory with --data, or set DATABASE_URL. A new one is made by \`enrolment serve\`, \`dev\` or \`migrate\`.`,
    )
  const run = async (address: DatabaseAddress) => {
    await checkConnection(address)
    const database = openDatabase(address, { max: 3, onError: () => {}, statementTimeoutMs: 60_000 })
    try {
      return await work({ config, dataDir, database, address, real: Date.now })
    } finally {
      await database.close()
    }
  }
  if (config.databaseUrl !== undefined) return run({ url: config.databaseUrl })
  return starts ? withDatabase({ dataDir }, run) : run(await runningDatabase(dataDir))
}

/** The embedded database that a service runs. Throws OperatorError when none does. */
export async function runningDatabase(dataDir: string): Promise<DatabaseAddress> {
  const address = await findRunningDatabase({ dataDir })
  if (!address)
    throw new OperatorError(
      `No service runs on the database in ${dataDir}, and this command does not start one: start \`enrolment serve\` or \`dev\` there first.`,
    )
  return address
}

/** The addresses that webhooks may reach: public ones, those that the operator allows, and loopback in a sandbox. */
export function webhookRulesOf(config: Config, installation: Installation): AddressRules {
  return { sandbox: installation.sandbox, allow: config.webhookAllow }
}
