import {
  birthdateAttemptsLeft,
  failChallenge,
  MOST_ATTEMPTS_OF_LINK,
  noteBirthdateAttempt,
} from '../session/birthdate-attempts.ts'
import { pageOf, type Visit } from '../session/visit.ts'
import { type Faults, isFaulty } from '../views/faults.ts'
import { parseBirthDate } from '../views/form.ts'
import type { Step, Typed } from './step.ts'

/** Whether the birth date is asked first: other people may have read the link, and the date is known. */
export function isChallenged(visit: Visit): boolean {
  const { delivery, birthdate_passed_at: passedAt } = visit.session
  return (delivery === 'sms' || delivery === 'email') && passedAt === null && knownDates(visit).length > 0
}

/**
 * Asks the birth date, and shows only the first name of the person. It is compared at most five times for one link and ten
 * times for all links of a person in 30 days; then the session ends. Input that is not a date costs no attempt.
 */
export const challenge: Step = {
  show: async (visit, typed) => {
    const { context, session } = visit
    const at = context.clock.real()
    const left = await birthdateAttemptsLeft(context.database, session, at)
    if (left === 0) return endChallenge(visit, at)
    return { ...asked(visit, typed, 'challenge'), firstname: visit.person.firstname, ...toSay(left, typed) }
  },
  post: async (visit, form) => {
    const parsed = parseBirthDate(form, visit.today)
    if (isFaulty(parsed)) return parsed
    const { context, session } = visit
    const at = context.clock.real()
    const passed = knownDates(visit).includes(parsed.dob)
    const left = await noteBirthdateAttempt(context.database, session, { at, passed })
    if (left !== undefined && passed) return { to: '' }
    return left ? mismatch(left) : endChallenge(visit, at)
  },
}

/** The view that asks the birth date at this path. */
export function asked(visit: Visit, { posted }: Typed, path: string) {
  const { draft: _, ...page } = pageOf(visit)
  const kept = posted && Object.fromEntries(posted)
  return { view: 'CHALLENGE', page, action: `${page.root}/${path}`, kept } as const
}

/** Says that the birth date is wrong, and how many attempts are left. */
export function mismatch(count: number): Faults {
  return { errors: [{ input: 'dobmonth', code: 'dob_mismatch', count }] }
}

/** How many attempts are left, as far as it has to be said: not before the first one, nor beside an error that says it. */
export function toSay(left: number, { errors }: Typed): { attemptsleft?: number } {
  const isSaid = errors?.some(({ code }) => code === 'dob_mismatch') ?? false
  return isSaid || left === MOST_ATTEMPTS_OF_LINK ? {} : { attemptsleft: left }
}

async function endChallenge(visit: Visit, at: number): Promise<'gone'> {
  await failChallenge(visit.context.database, visit.session, at)
  return 'gone'
}

/** The birth date that the partner sent, and the one to which the person corrected it. */
function knownDates({ person, sent }: Visit): string[] {
  return [person.dob, sent.dob].filter(date => date !== undefined)
}
