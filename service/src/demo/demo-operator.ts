import type { Database } from '../db/database.ts'
import type { Operator } from '../operators/operator.ts'
import { mintLink } from '../operators/sign-in.ts'
import { findOperator, insertOperator } from '../operators/store.ts'
import type { Keyring } from '../vault/keyring.ts'
import { uuidv7 } from '../vault/uuid.ts'

const NAME = 'demo'

/**
 * A fresh link that signs in at the console as the demo's administrator; `undefined` where
 * somebody has disabled that operator.
 */
export async function demoSignIn(
  { database, keyring }: { readonly database: Database; readonly keyring: Keyring },
  consoleUrl: string,
): Promise<string | undefined> {
  const fresh: Operator = {
    operatorId: uuidv7(Date.now()),
    name: NAME,
    role: 'admin',
    partners: undefined,
    createdAt: Date.now(),
    disabledAt: undefined,
  }
  await insertOperator(database, fresh)
  const operator = await findOperator(database, NAME)
  if (!operator || operator.disabledAt !== undefined) return undefined
  const token = await mintLink({ database, keyring, mode: 'sandbox', real: Date.now }, operator)
  return `${consoleUrl}/sign-in/${token}`
}
