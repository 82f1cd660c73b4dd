import { MOST_ATTEMPTS_OF_LINK, noteBirthdateAgain } from '../session/birthdate-attempts.ts'
import { revokeSession } from '../session/store.ts'
import type { Visit } from '../session/visit.ts'
import { isFaulty } from '../views/faults.ts'
import { parseBirthDate } from '../views/form.ts'
import { asked, mismatch, toSay } from './challenge.ts'
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
