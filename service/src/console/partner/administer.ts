import type { Query } from '../../db/sql.ts'
import { OperatorError } from '../../operator-error.ts'
import type { AdministerContext } from '../../partners/administer.ts'
import type { Partner } from '../../partners/partner.ts'
import { recordAlongside } from '../screen/record.ts'
import { ConsoleRefusal, type OperatorVisit, reasonOf } from '../screen/screen.ts'

/**
 * Does to a partner what a command can do, on record and for the reason in the form; `alongside` is committed with it. A
 * refusal of the command appears here with the same sentence, without the dashes of its options and without the commands
 * that it advises.
 */
export async function administer<T>(
  visit: OperatorVisit,
  { partner, action, alongside = [] }: { partner: Partner; action: string; alongside?: readonly Query[] },
  work: (context: AdministerContext) => Promise<T>,
): Promise<T> {
  const deed = recordAlongside(visit, { action, partner, reason: reasonOf(visit) })
  try {
    const done = await work({
      ...visit.context,
      knownOffers: [],
      by: visit.operator.name,
      alongside: [...alongside, deed],
    })
    visit.context.directory.forget(partner.partnerId)
    return done
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    throw new ConsoleRefusal(
      409,
      'Not done',
      error.message.replace(/(?<=^|\s)--(?=[a-z])/g, '').replace(/: [^:`]*`[^`]*`[^.]*/g, ''),
    )
  }
}
