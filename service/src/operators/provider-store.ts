import type { Executor } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Operator } from './operator.ts'
import type { Rights } from './provider-groups.ts'
import { findOperator, insertOperator } from './store.ts'

/** A person's identity at the provider. */
type ProviderSubject = { readonly issuer: string; readonly subject: string }

/** The operator behind a subject of the provider; `undefined` when that person has never signed in here. */
export async function findSubject(
  db: Executor,
  { issuer, subject }: ProviderSubject,
): Promise<Operator | undefined> {
  const [row] = await db.query<{ name: string }>(sql`
    select name from operators where issuer = ${issuer} and subject = ${subject}`)
  return row && findOperator(db, row.name)
}

/**
 * Gives an operator of the provider the present rights of their groups; open sessions have them at once. An email that the
 * provider no longer returns is kept: removing it must not make a second person.
 */
export async function giveRights(
  db: Executor,
  operatorId: string,
  { role, partners, email }: Rights & { readonly email: string | undefined },
): Promise<void> {
  await db.query(sql`
    update operators set role = ${role}, partners = ${partners ?? null}::uuid[], email = coalesce(${email ?? null}, email)
    where operator_id = ${operatorId}`)
}

/**
 * Stores an operator at the first sign-in. A name that is already taken gets a part of the operator's own id, so that
 * nobody appears as a colleague in the record.
 */
export async function addSubject(
  db: Executor,
  operator: Operator & ProviderSubject,
): Promise<Operator | undefined> {
  const name = `${operator.name} (${operator.operatorId.slice(-8)})`
  for (const one of [operator, { ...operator, name }]) if (await insertOperator(db, one)) return one
  // The person signed in twice at the same time, and the other sign-in was stored.
  return findSubject(db, operator)
}
