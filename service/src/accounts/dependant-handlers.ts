import type { getDependants, setDependants } from '@benefit-enrolment/contract'
import { noteRead, type Trail } from '../audit/trail.ts'
import { formatTimestamp, timestampOrNull } from '../calendar/calendar.ts'
import type { Handler } from '../http/mount.ts'
import type { Reader } from '../membership/reading/reader.ts'
import { type AccountCommands, accepted } from '../membership/requests/account-command.ts'
import { refuseBirthDates } from '../membership/requests/given.ts'
import { activeAccountOf } from '../membership/rules/account.ts'
import { coversOfDependant } from '../membership/rules/cover.ts'
import { isRefusal } from '../membership/rules/refusal.ts'
import type { Caller } from '../partners/authenticate.ts'
import { setDependantsOf } from './dependants.ts'

/** Reads and replaces a member's dependants (contract §19). */
export function dependantHandlers(context: {
  readonly reader: Reader
  readonly commands: AccountCommands
  /** Records who read whose dependants. */
  readonly trail: Pick<Trail, 'note'>
}) {
  const { reader, commands, trail } = context

  const get: Handler<typeof getDependants, Caller> = async request => {
    const { partner } = request.caller
    const { userid } = request.body
    const { user, terms } = accepted(activeAccountOf(await reader.read(partner, userid)), request)
    const people = await reader.documents(partner, user)
    noteRead(trail, 'getDependants', request, user.serviceId)
    return {
      userid,
      version: user.dependantsVersion ?? 0,
      dependants: (people.get('profile')?.dependants ?? []).map(({ gender = '', ...one }) => ({
        ...one,
        gender,
        benefits: coversOfDependant(user, one, terms).map(({ benefit, state, startsAt, endsAt }) => ({
          name: benefit,
          state,
          startsattimestamp: formatTimestamp(startsAt),
          endsattimestamp: timestampOrNull(endsAt),
        })),
      })),
    }
  }

  const set: Handler<typeof setDependants, Caller> = async request => {
    const { userid, version, dependants } = request.body
    return commands.run(request, { userid, why: 'dependants' }, commandContext => {
      const found = activeAccountOf(commandContext.member)
      if (isRefusal(found)) return found
      const { now } = commandContext
      const terms = commandContext.terms()
      const made =
        refuseBirthDates(dependants, { now, zone: terms.zone }) ??
        setDependantsOf(found.user, { version, dependants }, now, terms)
      if (isRefusal(made)) return made
      const profile = { ...found.person('profile'), dependants: made.dependants }
      return {
        ...(made.user === found.user ? {} : { change: { ...made, documents: { profile } } }),
        answer: after => ({
          userid,
          version: after.dependantsVersion ?? 0,
          dependants: made.dependants.map(({ dependantid }) => ({ dependantid })),
        }),
      }
    })
  }

  return { getDependants: get, setDependants: set }
}
