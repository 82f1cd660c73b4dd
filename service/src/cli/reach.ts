import { explainConnection } from '../db/connection-check.ts'
import type { Database } from '../db/database.ts'
import { type MigrateOptions, migrate, refuseFuture, schemaState } from '../db/migrate.ts'
import { OperatorError } from '../operator-error.ts'

/** What a command does with the schema: update it, create it only in an empty database, or require it as it is. */
export type SchemaUse = 'bring up' | 'make' | 'take'

/** There is a database, but it is empty: the message says which command creates its schema. */
export class EmptyDatabase extends OperatorError {
  override name = 'EmptyDatabase'
}

/**
 * Inspects the schema, does with it what is allowed, learns its cells, and returns the migrations that were
 * applied. Throws OperatorError when the schema may not be used as it is.
 */
export async function reach(
  database: Database,
  use: SchemaUse,
  options: MigrateOptions = {},
): Promise<readonly string[]> {
  try {
    const applied = await bringUp(database, use, options)
    await database.learnCells()
    return applied
  } catch (error) {
    if ((error as { code?: string }).code === '42501') {
      throw new OperatorError(
        'The user of DATABASE_URL may not make tables: let it own the database, or run `enrolment migrate` as its owner.',
      )
    }
    if ((error as { code?: string }).code === '42P07')
      throw new OperatorError(
        `This database has something of somebody else under a name of ours (${(error as Error).message}): name an empty database.`,
      )
    const sentence = explainConnection(error)
    if (sentence !== undefined) throw new OperatorError(sentence)
    throw error
  }
}

async function bringUp(
  database: Database,
  use: SchemaUse,
  options: MigrateOptions,
): Promise<readonly string[]> {
  if (use === 'bring up') return migrate(database, options)
  const state = await schemaState(database)
  refuseFuture(state)
  if (state.kind === 'old') {
    throw new OperatorError(
      `The schema of this database is older than this version of the service (${state.missing.join(', ')} is missing): run \`enrolment migrate\`.`,
    )
  }
  if (state.kind !== 'empty') return []
  if (use === 'make') return migrate(database, options)
  throw new EmptyDatabase('This database is empty: run `enrolment migrate` to make the schema.')
}
