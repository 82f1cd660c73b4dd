import type { Catalogue } from '../catalogue/model.ts'
import type { OpenFarewell } from '../membership/records/farewells.ts'
import type { LineValues } from './feed.ts'
import { effectiveOn } from './values.ts'

/**
 * The values of the line about an erased person, or a dependant of one: serviceid, member number, benefit, dates and who it is, with
 * what the catalogue says of the benefit.
 */
export function farewellValues(
  farewell: OpenFarewell,
  { run, catalogue }: { readonly run: number; readonly catalogue: Pick<Catalogue, 'benefits'> },
): LineValues {
  const { user, benefit, memberId, action, line, startsOn, endsOn, dependant } = farewell
  const known = catalogue.benefits.get(benefit)
  return {
    action,
    reason: action === 'void' ? 'corrected' : 'erased',
    line: String(line),
    run: String(run),
    serviceid: user.serviceId,
    memberid: memberId,
    benefit,
    who: dependant?.relationship ?? 'member',
    dependantid: dependant?.dependantId ?? '',
    // Nobody knows the tier of a family that was erased; without tiers there is none to know.
    ...(!known?.tiers && { tier: '' }),
    policy: known?.policy ?? '',
    plancode: known?.plancode ?? '',
    startson: startsOn,
    endson: endsOn ?? '',
    effectiveon: effectiveOn({ action, startsOn, endsOn }, endsOn ?? startsOn),
  }
}
