import type {
  Beneficiary,
  BenefitBeneficiaries,
  getBeneficiaries,
  Locale,
  Designation as WireDesignation,
} from '@benefit-enrolment/contract'
import { noteRead, type Trail } from '../audit/trail.ts'
import { formatTimestamp } from '../calendar/calendar.ts'
import type { Database } from '../db/database.ts'
import type { Handler } from '../http/mount.ts'
import type { Reader } from '../membership/reading/reader.ts'
import { type OpenDesignation, readDesignations } from '../membership/records/designations.ts'
import { accepted } from '../membership/requests/account-command.ts'
import { activeAccountOf } from '../membership/rules/account.ts'
import type { NamedBeneficiary } from '../membership/rules/beneficiaries.ts'
import type { Caller } from '../partners/authenticate.ts'
import { type NamingBenefit, namingBenefits } from './beneficiaries.ts'

/** Reads beneficiaries (contract §7). */
export function beneficiaryHandlers(context: {
  readonly reader: Reader
  readonly database: Database
  /** Records who read whose beneficiaries. */
  readonly trail: Pick<Trail, 'note'>
}) {
  const { reader, database, trail } = context

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

  return { getBeneficiaries: get }
}

/** A person's beneficiaries for one benefit, in the form of the API. */
function viewBeneficiaries(
  { benefit, naming }: NamingBenefit,
  versions: readonly OpenDesignation[],
  input: { readonly locale: Locale; readonly withVersions: boolean },
): BenefitBeneficiaries {
  const own = versions.filter(one => one.benefit === benefit.name)
  const current = own.at(-1)
  return {
    name: benefit.name,
    displayname: benefit.displayname[input.locale],
    naming,
    current: current ? viewDesignation(current) : null,
    ...(input.withVersions ? { versions: own.map(viewDesignation) } : {}),
  }
}

function viewDesignation({ version, who, writtenAt, beneficiaries }: OpenDesignation): WireDesignation {
  return {
    version,
    who,
    writtenattimestamp: formatTimestamp(writtenAt),
    beneficiaries: beneficiaries.map(viewBeneficiary),
  }
}

function viewBeneficiary(one: NamedBeneficiary): Beneficiary {
  const { kind, name, relationship, share, dob = '', contact = '' } = one
  return { kind, name, relationship, share, dob, contact }
}
