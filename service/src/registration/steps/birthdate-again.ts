import { MOST_ATTEMPTS_OF_LINK as mostAttempts, noteBirthdateAgain } from '../session/birthdate-attempts.ts'
import { revokeSession } from '../session/store.ts'
import { pageOf, rootOf, type Visit } from '../session/visit.ts'
import { type FieldError, isFaulty } from '../views/faults.ts'
import { parseBirthDate } from '../views/form.ts'
import { afterNaming } from './naming.ts'
import type { Posted, Step } from './step.ts'

/**
 * Whether the birth date is asked again before a member's beneficiaries are shown, because other people may have read
 * the link. It is asked once in a session.
 */
function isAskedAgain({ isMember, session, person }: Visit): boolean {
  const { delivery, birthdate_again_at: passedAt } = session
  const isOpenLink = delivery === 'sms' || delivery === 'email'
  return isMember && isOpenLink && passedAt === null && person.dob !== undefined
}

/** The step, protected by the birth date where that is asked again; the question appears at the step's own path. */
export function behindBirthdate(path: string, step: Step): Step {
  return {
    show: (visit, typed) => {
      if (!isAskedAgain(visit)) return step.show(visit, typed)
      const { draft: _, ...page } = pageOf(visit)
      return {
        view: 'CHALLENGE',
        page,
        again: true,
        action: `${rootOf(visit.context)}/${path}`,
        attemptsleft: attemptsLeft(visit, typed.errors),
        next: afterNaming(typed.form),
        kept: typed.posted && Object.fromEntries(typed.posted),
      }
    },
    post: (visit, form) => {
      if (isAskedAgain(visit)) return meetAgain(visit, form, path)
      return step.post ? step.post(visit, form) : { to: path }
    },
  }
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
  if (tries === undefined || tries >= mostAttempts) {
    await revokeSession(context.database, session, at)
    return 'gone'
  }
  return { errors: [{ input: 'dobmonth', code: 'dob_mismatch', count: mostAttempts - tries }] }
}

/** The count in the error is newer than the visit, which was loaded before the attempt. */
function attemptsLeft({ session }: Visit, errors: readonly FieldError[] | undefined): number {
  const left = errors?.find(({ code }) => code === 'dob_mismatch')?.count
  return left ?? mostAttempts - session.birthdate_again_tries
}
