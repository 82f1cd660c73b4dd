import { nameOf } from './session.ts'
import { noteBirthdateTry, revokeSession } from './store.ts'
import type { FieldError } from './views/faults.ts'
import { parseBirthDate } from './views/form.ts'
import type { ChallengeView } from './views/model.ts'
import type { Kept } from './views/parts.ts'
import { pageOf, type Visit } from './visit.ts'

const mostTries = 5

/** Whether the birth date is to be asked first: the link came by a way that others may read, and the date is known. */
export const isChallenged = (visit: Visit): boolean => {
  const { delivery, birthdate_passed_at: passedAt } = visit.session
  return (delivery === 'sms' || delivery === 'email') && passedAt === null && knownDates(visit).length > 0
}

/** Asks the birth date, and shows nothing of the person but the first name. */
export const challengeView = (
  visit: Visit,
  wrong: { kept?: Kept; errors?: readonly FieldError[] },
): ChallengeView => {
  const { firstname } = visit.person
  const { draft: _, ...page } = pageOf(visit)
  return {
    view: 'CHALLENGE',
    page,
    action: `${page.root}/challenge`,
    ...(firstname === undefined ? {} : { firstname }),
    triesleft: mostTries - visit.session.birthdate_tries,
    ...wrong,
  }
}

/** Compares a birth date, five times at most; then the session ends. A date that is none costs no try. */
export const meetChallenge = async (
  visit: Visit,
  form: URLSearchParams,
): Promise<'passed' | 'ended' | { visit: Visit; errors: readonly FieldError[] }> => {
  const { context, session } = visit
  const parsed = parseBirthDate(form, visit.today)
  if (!parsed.ok) return { visit, errors: parsed.errors }
  const at = context.clock.real()
  const passed = knownDates(visit).includes(parsed.values.dob)
  const tries = await noteBirthdateTry(context.database, nameOf(session), { at, passed })
  if (tries !== undefined && passed) return 'passed'
  if (tries === undefined || tries >= mostTries) {
    await revokeSession(context.database, nameOf(session), at)
    return 'ended'
  }
  const count = mostTries - tries
  return {
    visit: { ...visit, session: { ...session, birthdate_tries: tries } },
    errors: [{ input: 'dobmonth', code: 'dob_mismatch', count }],
  }
}

/** The date that was sent, and the one that the person corrected it to. */
const knownDates = ({ person, sent }: Visit): string[] =>
  [person.dob, sent.dob].filter(date => date !== undefined)
