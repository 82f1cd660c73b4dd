import { html } from '../../http/html.ts'
import {
  birthdateAttemptsLeft,
  failChallenge,
  MOST_ATTEMPTS_OF_LINK,
  noteBirthdateAttempt,
} from '../session/birthdate-attempts.ts'
import { pageOf, type Visit } from '../session/visit.ts'
import type { Step, Typed } from '../steps/step.ts'
import { parseBirthDate } from '../steps/step.ts'
import { birthDate } from '../views/birth-date.ts'
import { type Faults, isFaulty } from '../views/faults.ts'
import { form, primary, question } from '../views/fields.ts'
import type { View } from '../views/layout.ts'
import { sayIn } from '../views/say.ts'

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
    return asked(visit, typed, left)
  },
  post: async (visit, posted) => {
    const parsed = parseBirthDate(posted, visit.today)
    if (isFaulty(parsed)) return parsed
    const { context, session } = visit
    const at = context.clock.real()
    const passed = knownDates(visit).includes(parsed.dob)
    const left = await noteBirthdateAttempt(context.database, session, { at, passed })
    if (left !== undefined && passed) return { to: '' }
    return left ? mismatch(left) : endChallenge(visit, at)
  },
}

/** Whether the birth date is asked first: other people may have read the link, and the date is known. */
export function isChallenged(visit: Visit): boolean {
  const { delivery, birthdate_passed_at: passedAt } = visit.session
  return (delivery === 'sms' || delivery === 'email') && passedAt === null && knownDates(visit).length > 0
}

/** The view that asks the birth date. It says how many attempts are left, but not before the first, nor beside an error that does. */
function asked(visit: Visit, { posted, errors }: Typed, left: number): View {
  const { draft: _, isresumed: __, ...page } = pageOf(visit)
  const { firstname } = visit.person
  const say = sayIn(page)
  const answers = { page, errors, kept: posted && Object.fromEntries(posted) }
  const isSaid = errors?.some(({ code }) => code === 'dob_mismatch') || left === MOST_ATTEMPTS_OF_LINK
  return question('CHALLENGE', answers, {
    title: say`Confirm that it is you`,
    body: html`<p class="lead">${firstname && `${say`Hello, ${firstname}.`} `}${say`Before we show your information, please enter your date of birth.`}</p>
${form(answers, 'challenge', [
  birthDate(answers, { asHeading: false }),
  !isSaid &&
    html`<p class="hint">${left === 1 ? say`You have 1 try left.` : say`You have ${left} tries left.`}</p>`,
  primary(say`Continue`),
])}`,
  })
}

/** Says that the birth date is wrong, and how many attempts are left. */
function mismatch(count: number): Faults {
  return { errors: [{ input: 'dobmonth', code: 'dob_mismatch', count }] }
}

async function endChallenge(visit: Visit, at: number): Promise<'gone'> {
  await failChallenge(visit.context.database, visit.session, at)
  return 'gone'
}

/** The birth date that the partner sent, and the one to which the person corrected it. */
function knownDates({ person, sent }: Visit): string[] {
  return [person.dob, sent.dob].filter(date => date !== undefined)
}
