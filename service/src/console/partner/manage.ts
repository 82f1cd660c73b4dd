import type { Query } from '../../db/sql.ts'
import { OperatorError } from '../../operator-error.ts'
import type { ManageContext } from '../../partners/manage.ts'
import { ConsoleRefusal, type Visit } from '../screen/screen.ts'

/** What managing partners needs, as the console has it; `alongside` is committed with the change. */
export function manageContext(
  { context }: Pick<Visit, 'context'>,
  alongside: readonly Query[],
): ManageContext {
  const { database, keyring, mode, real } = context
  return { database, keyring, mode, real, knownOffers: [], alongside }
}

/** A refusal of a command appears here with the same sentence, without the dashes of its options. */
export async function managed<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    throw new ConsoleRefusal(409, 'Not done', error.message.replace(/(?<=^|\s)--(?=[a-z])/g, ''))
  }
}
