import { OperatorError } from '../../operator-error.ts'
import type { ManageContext } from '../../partners/manage.ts'
import { ConsoleRefusal, type Visit } from '../page/screen.ts'

/** The context for managing partners from the console. */
export function manageContext({ context }: Pick<Visit, 'context'>): ManageContext {
  const { database, keyring, mode, real } = context
  return { database, keyring, mode, real, knownOffers: [] }
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
