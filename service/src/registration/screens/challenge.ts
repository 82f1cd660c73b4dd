import { html } from '../../http/html.ts'
import {
  birthdateAttemptsLeft,
  failChallenge,
  MOST_ATTEMPTS_OF_LINK,
  noteBirthdateAgain,
  noteBirthdateAttempt,
} from '../session/birthdate-attempts.ts'
import { revokeSession } from '../session/store.ts'
import { pageOf, type Visit } from '../session/visit.ts'
import { afterNaming } from '../steps/naming.ts'
import { parseBirthDate } from '../steps/posted.ts'
import type { AnyView, Posted, Step, Typed } from '../steps/step.ts'
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
    /** The birth date is asked again, before the person's beneficiaries are shown. */
    readonly again?: boolean | undefined
    /** The path to continue with. */
    readonly next?: string | undefined
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

/** The step, protected by the birth date where that is asked again; the question appears at the step's own path. */
export function behindBirthdate<View extends AnyView>(
  path: string,
  step: Step<View>,
): Step<View | ChallengeView> {
  return {
    show: (visit, typed) => {
      if (!isAskedAgain(visit)) return step.show(visit, typed)
      return {
        ...asked(visit, typed, path),
        again: true,
        ...toSay(MOST_ATTEMPTS_OF_LINK - visit.session.birthdate_again_tries, typed),
        next: afterNaming(typed.form),
      }
    },
    post: (visit, form) => {
      if (isAskedAgain(visit)) return meetAgain(visit, form, path)
      return step.post ? step.post(visit, form) : { to: path }
    },
  }
}

/**
 * Whether the birth date is asked again before a member's beneficiaries are shown, because other people may have read
 * the link. It is asked once in a session.
 */
function isAskedAgain({ isMember, session, person }: Visit): boolean {
  const { delivery, birthdate_again_at: passedAt } = session
  const isOpenLink = delivery === 'sms' || delivery === 'email'
  return isMember && isOpenLink && passedAt === null && person.dob !== undefined
}

async function meetAgain(visit: Visit, form: URLSearchParams, path: string): Promise<Posted> {
  const { context, session, person } = visit
  const parsed = parseBirthDate(form, visit.today)
  if (isFaulty(parsed)) return parsed
  const at = context.clock.real()
  const passed = parsed.dob === person.dob
  const tries = await noteBirthdateAgain(context.database, session, { at, passed })
  const next = afterNaming(form)
  if (tries !== undefined && passed)
    return { to: next === undefined ? path : `${path}?${new URLSearchParams({ next })}` }
  const left = MOST_ATTEMPTS_OF_LINK - (tries ?? MOST_ATTEMPTS_OF_LINK)
  if (left > 0) return mismatch(left)
  await revokeSession(context.database, session, at)
  return 'gone'
}

/** The view that asks the birth date at this path. */
function asked(visit: Visit, { posted }: Typed, path: string) {
  const { draft: _, ...page } = pageOf(visit)
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
    body: html`<p class="lead">${
      view.again
        ? say`Before you see or change your beneficiaries, please enter your date of birth once more.`
        : [
            view.firstname && `${say`Hello, ${view.firstname}.`} `,
            say`Before we show your information, please enter your date of birth.`,
          ]
    }</p>
<form id="answers" method="post" action="${view.action}" novalidate>
${view.next !== undefined && html`<input type="hidden" name="next" value="${view.next}">`}
${birthDate(view, { asHeading: false })}
${view.attemptsleft !== undefined && html`<p class="hint">${view.attemptsleft === 1 ? say`You have 1 try left.` : say`You have ${view.attemptsleft} tries left.`}</p>`}
${primary(say`Continue`)}
</form>`,
  })
}
