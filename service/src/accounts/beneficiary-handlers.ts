import type {
  Beneficiary,
  BenefitBeneficiaries,
  getBeneficiaries,
  Locale,
  proposeBeneficiaries,
  Designation as WireDesignation,
} from '@benefit-enrolment/contract'
import { noteRead, type Trail } from '../audit/trail.ts'
import { formatTimestamp } from '../calendar/calendar.ts'
import type { Database } from '../db/database.ts'
import type { Handler } from '../http/mount.ts'
import { badField } from '../http/service-error.ts'
import type { Reader } from '../membership/reading/reader.ts'
import { type OpenDesignation, readDesignations } from '../membership/records/designations.ts'
import type { AccountCommands } from '../membership/requests/account-command.ts'
import { accepted } from '../membership/requests/answer.ts'
import { refuseBirthDate } from '../membership/requests/birth-date.ts'
import { activeAccountOf } from '../membership/rules/account.ts'
import { cleanDesignation, type NamedBeneficiary } from '../membership/rules/beneficiaries.ts'
import { isRefusal } from '../membership/rules/refusal.ts'
import { isActive } from '../membership/rules/state.ts'
import type { Caller } from '../partners/authenticate.ts'
import type { Clock } from '../partners/partner.ts'
import { type NamingBenefit, namingBenefits, proposeBeneficiariesOf } from './beneficiaries.ts'

/** Reads and proposes beneficiaries (contract §7). */
export function beneficiaryHandlers(context: {
  readonly commands: AccountCommands
  readonly reader: Reader
  readonly database: Database
  readonly clock: Clock
  /** Records who read whose beneficiaries. */
  readonly trail: Pick<Trail, 'note'>
}) {
  const { commands, reader, database, clock, trail } = context

  const get: Handler<typeof getBeneficiaries, Caller> = async request => {
    const { partner } = request.caller
    const { userid, include } = request.body
    const { user, terms } = accepted(activeAccountOf(await reader.read(partner, userid)), request)
    const versions = await readDesignations(database, { partner, user })
    const withVersions = include?.includes('versions') ?? false
    noteRead(trail, 'getBeneficiaries', request, user.serviceId)
    return {
      userid,
      serviceid: user.serviceId,
      benefits: namingBenefits(user, terms).map(one =>
        viewBeneficiaries(one, versions, { locale: request.locale, withVersions }),
      ),
    }
  }

  const propose: Handler<typeof proposeBeneficiaries, Caller> = async request => {
    const { userid, name } = request.body
    const { partner } = request.caller
    const context = { now: clock.now(partner), zone: partner.timezone }
    request.body.beneficiaries.forEach(({ dob, name: who }, at) => {
      accepted(refuseBirthDate(dob, { ...context, field: `beneficiaries[${at}].dob` }), request)
      if (who.trim() === '') throw badField(`beneficiaries[${at}].name`, 'required', 'must not be blank')
    })
    const beneficiaries = cleanDesignation(request.body.beneficiaries)
    const earlier = await currentOf(request.caller, { userid, name })
    return commands.change(request, { userid, why: 'beneficiaries proposed' }, (user, now, terms) => {
      const change = proposeBeneficiariesOf(user, { name, beneficiaries }, now, terms)
      if (isRefusal(change)) return change
      const { benefit, naming, designation, ...changed } = change
      const proposed = { ...designation, beneficiaries }
      return {
        change: { ...changed, designations: [proposed] },
        answer: () =>
          viewBeneficiaries({ benefit, naming }, [...earlier, proposed], {
            locale: request.locale,
            withVersions: false,
          }),
      }
    })
  }

  /** The designation in force, shown beside a new proposal. */
  const currentOf = async (
    { partner }: Caller,
    input: { readonly userid: string; readonly name: string },
  ): Promise<readonly OpenDesignation[]> => {
    const reading = await reader.read(partner, input.userid)
    if (!reading || !isActive(reading.user) || reading.user.designations.length === 0) return []
    const versions = await readDesignations(database, { partner, user: reading.user })
    return versions.filter(({ benefit, status }) => benefit === input.name && status === 'confirmed')
  }

  return { getBeneficiaries: get, proposeBeneficiaries: propose }
}

/** A person's beneficiaries for one benefit, in the form of the API. */
function viewBeneficiaries(
  { benefit, naming }: NamingBenefit,
  versions: readonly OpenDesignation[],
  input: { readonly locale: Locale; readonly withVersions: boolean },
): BenefitBeneficiaries {
  const own = versions.filter(one => one.benefit === benefit.name)
  const newest = (status: OpenDesignation['status']) => own.filter(one => one.status === status).at(-1)
  const [current, proposed] = [newest('confirmed'), newest('proposed')]
  return {
    name: benefit.name,
    displayname: benefit.displayname[input.locale],
    naming,
    current: current ? viewDesignation(current) : null,
    proposed: proposed ? viewDesignation(proposed) : null,
    ...(input.withVersions ? { versions: own.map(viewDesignation) } : {}),
  }
}

function viewDesignation(designation: OpenDesignation): WireDesignation {
  const { version, status, who, writtenAt, decidedAt, beneficiaries } = designation
  return {
    version,
    status,
    who,
    writtenattimestamp: formatTimestamp(writtenAt),
    decidedattimestamp: decidedAt === undefined ? null : formatTimestamp(decidedAt),
    beneficiaries: beneficiaries.map(viewBeneficiary),
  }
}

function viewBeneficiary(one: NamedBeneficiary): Beneficiary {
  const { kind, name, relationship, share, dob = '', contact = '' } = one
  return { kind, name, relationship, share, dob, contact }
}
