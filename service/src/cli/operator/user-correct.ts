import { sealReason } from '../../audit/reason.ts'
import { localTimestamp, type PlainDate } from '../../calendar/calendar.ts'
import { moveEnrolment, voidEnrolment } from '../../console/acts/corrections.ts'
import { wordsOf } from '../../console/acts/effect.ts'
import { submitAct } from '../../console/acts/submit.ts'
import { openCommandExecutor } from '../../membership/commands/executor.ts'
import { movable, voidable } from '../../membership/rules/corrections.ts'
import { effectOf } from '../../membership/rules/effect.ts'
import { isRefusal } from '../../membership/rules/refusal.ts'
import { type Enrolment, isLive, type User } from '../../membership/rules/state.ts'
import { viewMove } from '../../membership/rules/view.ts'
import { OperatorError } from '../../operator-error.ts'
import { type Command, flag, type Input, neededText, UsageError, valued } from '../command.ts'
import { dateIn } from '../date-option.ts'
import { inWorkspace, partnerIn, systemUser } from '../workspace.ts'
import { aloneOption, waiveSecondPerson } from './alone.ts'
import { memberContext, openMemberReader } from './members.ts'

/** Voids an enrolment or moves its dates, by the acts of the console. */
export const correctUser: Command = {
  name: 'user correct',
  arguments: ['PARTNER', 'USERID'],
  summary: 'Void an enrolment that should not exist, or move its first or last day; the old row is kept.',
  options: {
    benefit: valued('NAME', 'the benefit whose enrolment is wrong (needed)'),
    enrolment: valued('ID', 'which one, where the benefit has several; without it they are listed'),
    void: flag('it should never have been'),
    start: valued('DATE', 'the first day of cover it should have, in the partner’s zone'),
    'last-day': valued('DATE', 'the last day of cover it should have'),
    reason: valued('TEXT', 'why; kept sealed on record (needed but with --dry-run)'),
    'dry-run': flag('only show what it would do'),
    ...aloneOption,
  },
  run: input => {
    const asked = askedOf(input)
    return inWorkspace(input, async workspace => {
      const { record, alongside } = workspace
      const [partnerId = '', userid = ''] = input.positionals
      const partner = await partnerIn(workspace, partnerId)
      const context = memberContext(workspace)
      const reader = openMemberReader(workspace, context)
      const reading = await reader.read(partner, userid)
      if (!reading)
        throw new OperatorError('This partner has no user of that userid: check the letter case, too.')
      const { user, now } = reading
      const { serviceId } = user
      record({ serviceId })
      const people = await reader.documents(partner, user)
      const moment = { user, now, terms: context.terms(partner, () => people.get('profile')) }
      const act = asked.isVoid ? voidEnrolment : moveEnrolment
      const form = new URLSearchParams({
        enrolment: wrongOne(user, asked, partner.timezone).id,
        firstday: asked.firstDay ?? '',
        lastday: asked.lastDay ?? '',
      })
      const decided = act.decide(form, moment)
      if (isRefusal(decided)) throw new OperatorError(wordsOf(decided))
      const effect = effectOf(decided, moment, act.why(form))
      if (!asked.isDry) {
        await waiveSecondPerson(input, workspace, act.second)
        record({ sealedReason: sealReason(partner, serviceId, asked.reason) })
        const refused = await submitAct(
          { executor: openCommandExecutor(context) },
          { partner, user, serviceId },
          { act, form, actor: systemUser(), alongside: [alongside()], effect: effect.text },
        )
        if (refused) throw new OperatorError(wordsOf(refused))
      }
      const changes = effect.lines.map(viewMove)
      input.print({ serviceid: serviceId, dryrun: asked.isDry, events: effect.events, changes }, [
        asked.isDry ? 'It would do this; nothing is changed.' : 'Corrected.',
        ...changes.map(({ what, from, to }) => `  ${what}: ${from || '–'} → ${to || '–'}`),
        `The partner ${asked.isDry ? 'would hear' : 'hears'}: ${effect.events.join(', ')}.`,
      ])
    })
  },
}

type Asked = {
  readonly benefit: string
  readonly enrolment: string | undefined
  readonly isVoid: boolean
  readonly firstDay: PlainDate | undefined
  readonly lastDay: PlainDate | undefined
  readonly reason: string
  readonly isDry: boolean
}

function askedOf(input: Input): Asked {
  const isDry = input.flag('dry-run')
  const asked = {
    benefit: neededText(input, 'benefit'),
    enrolment: input.text('enrolment'),
    isDry,
    isVoid: input.flag('void'),
    firstDay: dateIn(input, 'start'),
    lastDay: dateIn(input, 'last-day'),
    reason: isDry ? '' : neededText(input, 'reason'),
  }
  if (asked.isVoid === (asked.firstDay !== undefined || asked.lastDay !== undefined))
    throw new UsageError('Give --void, or --start, --last-day or both; see --help.')
  return asked
}

/** The enrolment that was named, or the only one of the benefit, or the only one that is not over. */
function wrongOne(user: User, { benefit, enrolment, isVoid }: Asked, zone: string): Enrolment {
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
