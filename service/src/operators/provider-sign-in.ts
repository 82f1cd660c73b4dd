import { uuidv7 } from '../vault/uuid.ts'
import type { Operator } from './operator.ts'
import type { ProviderIdentity } from './provider.ts'
import { rightsOf } from './provider-groups.ts'
import type { ProviderSettings } from './provider-settings.ts'
import { addSubject, findSubject, giveRights } from './provider-store.ts'
import type { SignInContext } from './sign-in.ts'
import { endOperatorSessions } from './store.ts'

/** The decision about a person whom the provider has named. */
type Admission =
  | { readonly operator: Operator; readonly refused?: undefined }
  | { readonly operator: Operator | undefined; readonly refused: 'no role' | 'disabled' }

/**
 * Admits a person whom the provider has named, with the present rights of their groups. Refuses a person without a
 * group that has a role, and ends the sessions left from earlier groups. Also refuses an operator who was disabled
 * here, whatever the provider says.
 */
export async function admit(
  { database, real }: Pick<SignInContext, 'database' | 'real'>,
  { issuer, groups: mapped }: ProviderSettings,
  { subject, name, email, groups }: ProviderIdentity,
): Promise<Admission> {
  const known = await findSubject(database, { issuer, subject })
  if (known?.disabledAt !== undefined) return { operator: known, refused: 'disabled' }
  const rights = rightsOf(mapped, groups)
  if (!rights) {
    if (known) await endOperatorSessions(database, known.operatorId, real())
    return { operator: known, refused: 'no role' }
  }
  if (known) {
    await giveRights(database, known.operatorId, { ...rights, email })
    return { operator: { ...known, ...rights } }
  }
  const at = real()
  const added = await addSubject(database, {
    operatorId: uuidv7(at),
    name,
    email,
    ...rights,
    issuer,
    subject,
    createdAt: at,
    disabledAt: undefined,
  })
  if (!added) throw new Error('an operator of the provider could neither be added nor found')
  return { operator: added }
}
