import { checkLook } from '../../look/look.ts'
import { setAppearance } from '../session/store.ts'
import { pageOf, type Visit } from '../session/visit.ts'

/**
 * Changes the style sheets of a session; `problems` says why an appearance was refused, in which case nothing changes.
 */
export async function changeAppearance(
  visit: Visit,
  appearance: unknown,
): Promise<{ stylesheets: readonly string[]; problems: readonly string[] }> {
  const checked = checkLook(visit.partner.look, appearance)
  if (!checked.ok) return { stylesheets: pageOf(visit).stylesheets, problems: checked.problems }
  await setAppearance(visit.context.database, visit.session, appearance)
  const changed = { ...visit, session: { ...visit.session, appearance } }
  return { stylesheets: pageOf(changed).stylesheets, problems: [] }
}
