import { OperatorError } from '../../operator-error.ts'
import type { ManageContext } from '../../partners/manage.ts'
import { ConsoleRefusal, type Visit } from '../page/screen.ts'

/** What managing partners needs, as the console has it. */
export function manageContext({ context }: Pick<Visit, 'context'>): ManageContext {
  const { database, keyring, mode, real } = context
  return { database, keyring, mode, real, knownOffers: [] }
}

/** What a command would refuse with a sentence is refused with the same one here, without the dashes of its options. */
export async function managed<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    throw new ConsoleRefusal(409, 'Not done', error.message.replace(/(?<=^|\s)--(?=[a-z])/g, ''))
  }
}
