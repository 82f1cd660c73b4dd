import type { Executor } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { Operator } from './operator.ts'
import type { Rights } from './provider-groups.ts'
import { findOperator, insertOperator } from './store.ts'

/** Who somebody is at the identity provider. */
export type ProviderSubject = { readonly issuer: string; readonly subject: string }

/** The operator behind a subject of the provider, or `undefined` where it has never worked here. */
export async function findSubject(
  db: Executor,
  { issuer, subject }: ProviderSubject,
): Promise<Operator | undefined> {
  const [row] = await db.query<{ name: string }>(sql`
    select name from operators where issuer = ${issuer} and subject = ${subject}`)
  return row && findOperator(db, row.name)
}

/** Gives an operator of the provider the rights of its groups as they are now; sessions that are open have them at once. */
export async function giveRights(
  db: Executor,
  operatorId: string,
  { role, partners }: Rights,
): Promise<void> {
  await db.query(sql`
    update operators set role = ${role}, partners = ${partners ?? null}::uuid[] where operator_id = ${operatorId}`)
}

/**
 * Stores an operator who came from the provider for the first time. A name that somebody else has gets a part of the
 * operator's own id, so that nobody passes for a colleague in the record.
 */
export async function addSubject(
  db: Executor,
  operator: Operator & ProviderSubject,
): Promise<Operator | undefined> {
  const name = `${operator.name} (${operator.operatorId.slice(-8)})`
  for (const one of [operator, { ...operator, name }]) if (await insertOperator(db, one)) return one
  // Somebody signed in twice at once: the other one was stored.
  return findSubject(db, operator)
}
