import type { Catalogue } from '../catalogue/model.ts'
import type { OpenFarewell } from '../membership/records/farewells.ts'
import type { LineValues } from './feed.ts'
import { effectiveOn } from './values.ts'

/**
 * The values of the line about an erased person: serviceid, member number, benefit and dates, with what the catalogue says of
 * the benefit.
 */
export function farewellValues(
  farewell: OpenFarewell,
  { run, catalogue }: { readonly run: number; readonly catalogue: Pick<Catalogue, 'benefits'> },
): LineValues {
  const { user, benefit, memberId, action, line, startsOn, endsOn } = farewell
  const known = catalogue.benefits.get(benefit)
  return {
    action,
    reason: action === 'void' ? 'corrected' : 'erased',
    line: String(line),
    run: String(run),
    serviceid: user.serviceId,
    memberid: memberId,
    benefit,
    policy: known?.policy ?? '',
    plancode: known?.plancode ?? '',
    startson: startsOn,
    endson: endsOn ?? '',
    effectiveon: effectiveOn({ action, startsOn, endsOn }, endsOn ?? startsOn),
  }
}
