import { flag, neededText, UsageError, valued } from '@benefit-enrolment/command'
import { localTimestamp } from '../../calendar/calendar.ts'
import { moveEnrolment, voidEnrolment } from '../../console/acts/corrections.ts'
import { movable, voidable } from '../../membership/rules/corrections.ts'
import { type Enrolment, isLive, type User } from '../../membership/rules/state.ts'
import { OperatorError } from '../../operator-error.ts'
import { dateIn } from '../date-option.ts'
import { actCommand } from './act-command.ts'

/** Voids an enrolment or moves its dates. */
export const correctUser = actCommand({
  name: 'user correct',
  summary: 'Void an enrolment that should not exist, or move its first or last day; the old row is kept.',
  options: {
    benefit: valued('NAME', 'the benefit whose enrolment is wrong (needed)'),
    enrolment: valued('ID', 'which one, where the benefit has several; without it they are listed'),
    void: flag('it should never have been'),
    start: valued('DATE', 'the first day of cover it should have, in the partner’s zone'),
    'last-day': valued('DATE', 'the last day of cover it should have'),
  },
  read: input => {
    const wrong: Wrong = {
      benefit: neededText(input, 'benefit'),
      enrolment: input.text('enrolment'),
      isVoid: input.flag('void'),
    }
    const [firstDay, lastDay] = [dateIn(input, 'start'), dateIn(input, 'last-day')]
    if (wrong.isVoid === (firstDay !== undefined || lastDay !== undefined))
      throw new UsageError('Give --void, or --start, --last-day or both; see --help.')
    return ({ user, terms }) => ({
      act: wrong.isVoid ? voidEnrolment : moveEnrolment,
      form: new URLSearchParams({
        enrolment: wrongOne(user, wrong, terms.zone).id,
        firstday: firstDay ?? '',
        lastday: lastDay ?? '',
      }),
    })
  },
})

type Wrong = { readonly benefit: string; readonly enrolment: string | undefined; readonly isVoid: boolean }

/** The enrolment that was named, or the only one of the benefit, or the only one that is not over. */
function wrongOne(user: User, { benefit, enrolment, isVoid }: Wrong, zone: string): Enrolment {
  const rows = (isVoid ? voidable(user) : movable(user)).filter(one => one.benefit === benefit)
  const named = rows.filter(one => one.id === enrolment?.toLowerCase())
  const live = rows.filter(isLive)
  const [only, ...more] = enrolment !== undefined ? named : rows.length === 1 ? rows : live
  if (only && more.length === 0) return only
  if (rows.length === 0)
    throw new OperatorError(
      `The user has no enrolment in ${benefit} that can be corrected like this: see \`enrolment user show\`.`,
    )
  const each = rows.map(
    one =>
      `${one.id} (${one.state}, from ${localTimestamp(one.startsAt, zone)}${one.endsAt === undefined ? '' : ` until ${localTimestamp(one.endsAt, zone)}`})`,
  )
  throw new OperatorError(`Say which with --enrolment: ${each.join(', ')}.`)
}
