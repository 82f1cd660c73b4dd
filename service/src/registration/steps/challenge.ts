import { birthdateAttemptsLeft, failChallenge, noteBirthdateAttempt } from '../session/birthdate-attempts.ts'
import { pageOf, type Visit } from '../session/visit.ts'
import { type Faults, isFaulty } from '../views/faults.ts'
import { parseBirthDate } from '../views/form.ts'
import type { ChallengeView } from '../views/model.ts'
import type { EnteredAnswers } from '../views/parts.ts'

/** Whether the birth date is asked first: other people may have read the link, and the date is known. */
export function isChallenged(visit: Visit): boolean {
  const { delivery, birthdate_passed_at: passedAt } = visit.session
  return (delivery === 'sms' || delivery === 'email') && passedAt === null && knownDates(visit).length > 0
}

/**
 * Asks the birth date, and shows only the first name of the person. `ended`: no attempt is left, for this link or for
 * all links of the person together, and the link is closed.
 */
export async function openChallenge(
  visit: Visit,
  wrong: { kept?: EnteredAnswers; errors?: Faults['errors']; attemptsleft?: number },
): Promise<ChallengeView | 'ended'> {
  const { context } = visit
  const at = context.clock.real()
  const attemptsleft =
    wrong.attemptsleft ?? (await birthdateAttemptsLeft(context.database, visit.session, at))
  if (attemptsleft === 0) return endChallenge(visit, at)
  const { firstname } = visit.person
  const { draft: _, ...page } = pageOf(visit)
  return {
    view: 'CHALLENGE',
    page,
    action: `${page.root}/challenge`,
    firstname,
    ...wrong,
    attemptsleft,
  }
}

/**
 * Compares a birth date, at most five times for one link and ten times for all links of a person in 30 days; then the
 * session ends. Input that is not a date costs no attempt.
 */
export async function meetChallenge(
  visit: Visit,
  form: URLSearchParams,
): Promise<'passed' | 'ended' | (Faults & { attemptsleft?: number })> {
  const { context } = visit
  const parsed = parseBirthDate(form, visit.today)
  if (isFaulty(parsed)) return parsed
  const at = context.clock.real()
  const passed = knownDates(visit).includes(parsed.dob)
  const left = await noteBirthdateAttempt(context.database, visit.session, { at, passed })
  if (left !== undefined && passed) return 'passed'
  if (left === undefined || left === 0) return endChallenge(visit, at)
  return { attemptsleft: left, errors: [{ input: 'dobmonth', code: 'dob_mismatch', count: left }] }
}

async function endChallenge(visit: Visit, at: number): Promise<'ended'> {
  await failChallenge(visit.context.database, visit.session, at)
  return 'ended'
}

/** The birth date that the partner sent, and the one to which the person corrected it. */
function knownDates({ person, sent }: Visit): string[] {
  return [person.dob, sent.dob].filter(date => date !== undefined)
}
