import { html } from '../../http/html.ts'
import {
  birthdateAttemptsLeft,
  failChallenge,
  MOST_ATTEMPTS_OF_LINK,
  noteBirthdateAttempt,
} from '../session/birthdate-attempts.ts'
import { pageOf, type Visit } from '../session/visit.ts'
import { parseBirthDate } from '../steps/posted.ts'
import type { Step, Typed } from '../steps/step.ts'
import { birthDate } from '../views/birth-date.ts'
import { type Asking, type Faults, isFaulty } from '../views/faults.ts'
import { primary, question } from '../views/fields.ts'
import type { Content } from '../views/layout.ts'
import type { EnteredAnswers } from '../views/parts.ts'
import { sayIn } from '../views/say.ts'
import type { ViewOf } from '../views/surroundings.ts'

/** Asks the birth date before it shows anything of the person but the first name. */
export type ChallengeView = ViewOf<'CHALLENGE'> &
  Asking & {
    readonly action: string
    readonly firstname?: string | undefined
    readonly kept?: EnteredAnswers | undefined
    /** Shown after a wrong date, unless the error itself says it. */
    readonly attemptsleft?: number | undefined
  }

/**
 * Asks the birth date, and shows only the first name of the person. It is compared at most five times for one link and ten
 * times for all links of a person in 30 days; then the session ends. Input that is not a date costs no attempt.
 */
export const challenge: Step<ChallengeView> = {
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

/** Whether the birth date is asked first: other people may have read the link, and the date is known. */
export function isChallenged(visit: Visit): boolean {
  const { delivery, birthdate_passed_at: passedAt } = visit.session
  return (delivery === 'sms' || delivery === 'email') && passedAt === null && knownDates(visit).length > 0
}

/** The view that asks the birth date at this path. */
function asked(visit: Visit, { posted }: Typed, path: string) {
  const { draft: _, isresumed: __, ...page } = pageOf(visit)
  const kept = posted && Object.fromEntries(posted)
  return { view: 'CHALLENGE', page, action: `${page.root}/${path}`, kept } as const
}

/** Says that the birth date is wrong, and how many attempts are left. */
function mismatch(count: number): Faults {
  return { errors: [{ input: 'dobmonth', code: 'dob_mismatch', count }] }
}

/** How many attempts are left, as far as it has to be said: not before the first one, nor beside an error that says it. */
function toSay(left: number, { errors }: Typed): { attemptsleft?: number } {
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

/** Asks the birth date of a person whose link came by text message or email. */
export function drawChallenge(view: ChallengeView): Content {
  const say = sayIn(view.page)

  return question(view, {
    title: say`Confirm that it is you`,
    body: html`<p class="lead">${view.firstname && `${say`Hello, ${view.firstname}.`} `}${say`Before we show your information, please enter your date of birth.`}</p>
<form id="answers" method="post" action="${view.action}" novalidate>
${birthDate(view, { asHeading: false })}
${view.attemptsleft !== undefined && html`<p class="hint">${view.attemptsleft === 1 ? say`You have 1 try left.` : say`You have ${view.attemptsleft} tries left.`}</p>`}
${primary(say`Continue`)}
</form>`,
  })
}
