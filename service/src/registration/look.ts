import { nameOf } from './session.ts'
import { setAppearance } from './store.ts'
import { checkTheme } from './views/theme.ts'
import { pageOf, type Visit } from './visit.ts'

/** The style sheets of a session from now on; `problems` says why a look was refused, which changes nothing. */
export const changeLook = async (
  visit: Visit,
  appearance: unknown,
): Promise<{ stylesheets: readonly string[]; problems: readonly string[] }> => {
  const checked = checkTheme(appearance)
  if (!checked.ok) return { stylesheets: pageOf(visit).stylesheets, problems: checked.problems }
  await setAppearance(visit.context.database, nameOf(visit.session), appearance)
  const looking = { ...visit, session: { ...visit.session, appearance } }
  return { stylesheets: pageOf(looking).stylesheets, problems: [] }
}
