import { type Command, UsageError, valued } from '@benefit-enrolment/command'
import { formatTimestamp, isZone, localTimestamp } from '../../calendar/calendar.ts'
import { erase } from '../../console/acts/erase.ts'
import { type Standing, standings, unknownOf } from '../../console/user/why-not.ts'
import { findRefusedCreates, viewRefused } from '../../membership/records/refused-creates.ts'
import { residenceOf } from '../../membership/rules/person.ts'
import { viewTimeline, viewUser } from '../../membership/rules/view.ts'
import { OperatorError } from '../../operator-error.ts'
import { inWorkspace, partnerIn } from '../workspace.ts'
import { actCommand } from './act-command.ts'
import { lineOfRefused, memberContext, openMemberReader } from './members.ts'
import { correctUser } from './user-correct.ts'
import { userRecordCommands } from './user-records.ts'

/** Why the user does not have an offer or a benefit, as the console says it; it repeats no personal data. */
function viewStanding({ kind, name, isHeld, within, against }: Standing) {
  const refusals = against.map(({ code, why }) => ({ code, why }))
  return { kind, name, held: isHeld, ...(within && { within }), against: refusals }
}

function linesOfStanding({ kind, name, held, within, against }: ReturnType<typeof viewStanding>): string[] {
  const state = held ? 'held' : against.length > 0 ? 'closed' : within ? `with ${within.join(', ')}` : 'open'
  return [
    `  ${kind.padEnd(9)}${name.padEnd(16)}${state}`,
    ...against.map(({ code, why }) => `    ${code}: ${why}`),
  ]
}

const show: Command = {
  name: 'user show',
  arguments: ['PARTNER', 'USERID'],
  summary: 'Show a user: the state, the timeline, and why each offer and benefit is open or not.',
  options: {
    timezone: valued(
      'ZONE',
      'show times in this zone, like America/Chicago, or partner for the partner’s (default UTC)',
    ),
  },
  run: input => {
    const named = input.text('timezone')
    if (named !== undefined && named !== 'partner' && !isZone(named))
      throw new UsageError('--timezone must be a zone like America/Chicago, or partner; see --help.')
    return inWorkspace(input, async workspace => {
      const { database, record } = workspace
      const [partnerId = '', userid = ''] = input.positionals
      const partner = await partnerIn(workspace, partnerId)
      const zone = named === 'partner' ? partner.timezone : named
      const shown = (at: string | null) => (at && zone ? localTimestamp(Date.parse(at), zone) : (at ?? ''))
      const refused = (await findRefusedCreates(database, partner, userid)).map(viewRefused)
      const linesOfRefused =
        refused.length === 0
          ? []
          : ['', 'Refused creates', ...refused.map(one => lineOfRefused({ ...one, at: shown(one.at) }))]
      const context = memberContext(workspace)
      const reader = openMemberReader(workspace, context)
      const reading = await reader.read(partner, userid)
      if (refused.length > 0 && (!reading || reading.user.status === 'none')) {
        input.print({ user: null, refusedcreates: refused }, [
          'This partner has no user of that userid; creates of it were refused.',
          ...linesOfRefused,
        ])
        return
      }
      if (!reading || reading.user.status === 'none') {
        throw new OperatorError(
          'This partner has no user of that userid: check the letter case, too; a prefill is kept for 90 days.',
        )
      }
      const { user } = reading
      record({ serviceId: user.serviceId })
      const people = await reader.documents(partner, user)
      const person = people.get('profile') ?? people.get('prefill')
      const terms = context.terms(partner, () => (residenceOf(person) ? person : undefined))
      const { timeline, ...view } = {
        ...viewUser(user, terms, 'en'),
        timeline: viewTimeline(user, await reader.history(reading, 'all')),
      }
      const isErased = user.status === 'erased'
      const whyNot = isErased
        ? []
        : standings({ user, terms, now: reading.now, unknown: unknownOf(person) }).map(viewStanding)
      const now = formatTimestamp(reading.now)
      await workspace.database.query(workspace.alongside())
      input.print({ now, user: view, timeline, whynot: whyNot, refusedcreates: refused }, [
        `user        ${user.userid}`,
        `serviceid   ${user.serviceId}`,
        `status      ${[user.status, ...view.conditions].join(', ')}   (at ${shown(now)})`,
        `offer       ${view.currentofferdetails.offer || 'none'} since ${shown(view.currentofferdetails.updatedat)}`,
        ...(view.pendingoffer
          ? [`next offer  ${view.pendingoffer.offer} from ${shown(view.pendingoffer.effectiveattimestamp)}`]
          : []),
        '',
        'Benefits',
        ...view.benefits.map(one =>
          `  ${one.name.padEnd(16)}${one.state.padEnd(16)}${shown(one.startsattimestamp)} ${one.endsattimestamp ? `to ${shown(one.endsattimestamp)}` : ''}`.trimEnd(),
        ),
        '',
        'Timeline',
        ...timeline.map(
          line =>
            `  ${shown(line.attimestamp)}  ${line.attimestamp > now ? '(ahead) ' : ''}${line.what}: ${line.from || '–'} → ${line.to || '–'}   by ${line.who}, ${line.why}`,
        ),
        ...(isErased ? [] : ['', 'Offers and benefits', ...whyNot.flatMap(linesOfStanding)]),
        ...linesOfRefused,
      ])
    })
  },
}

const eraseUser = actCommand({
  name: 'user erase',
  summary: 'Erase a user for good, as the partner could by the API; prints a certificate of the erasure.',
  options: {},
  read: () => () => ({ act: erase, form: new URLSearchParams() }),
})

/** The commands about users. */
export const userCommands: readonly Command[] = [show, correctUser, eraseUser, ...userRecordCommands]
