import { html } from '../../http/html.ts'
import { operatorNames } from '../../operators/store.ts'
import { askSecondPerson } from '../requests/ask.ts'
import type { RequestKind } from '../requests/request.ts'
import { ALLOWED_HOURS } from '../requests/second-person.ts'
import { type Deed, record } from '../screen/record.ts'
import {
  type Answer,
  type ConsolePage,
  type OperatorVisit,
  onChange,
  reasonOf,
  type Screen,
} from '../screen/screen.ts'
import { livingUserDetails, type UserDetails } from '../user-data/user-details.ts'
import { actionForm, section } from '../views/parts.ts'
import { whyNoDate } from './date-or-link.ts'
import { ofWhom, requiredUser } from './screens.ts'

/** Asking a second person for what one operator does not get alone: the birth date and a link of one person. */
export const dateAndLinkScreens: readonly Screen[] = [
  onChange('/users/:serviceid/date-and-link', 'support', ask),
]

const EFFECT = 'birth date and link'

/** The request: it changes nothing of the user, and lets who asked have both for a day. */
export const dateAndLinkRequest: RequestKind = {
  action: 'dateandlink',
  title: 'Birth date and link for one operator',
  color: 'danger',
  role: 'support',
  async preview(visit, { serviceId, askedBy }) {
    const details = await livingUserDetails(visit, serviceId ?? '')
    if (!details) return { refused: 'The user was erased.' }
    const names = await operatorNames(visit.context.database)
    return {
      shown: html`${ofWhom(details)}
<p>For ${ALLOWED_HOURS} hours ${
        names.get(askedBy) ?? askedBy
      } may see the birth date of this person and make links that ask for it,
and could with both act as the person.</p>`,
      effect: EFFECT,
    }
  },
  async perform({ context }, { serviceId }, decision) {
    await context.database.commit(decision)
    return { to: `/users/${serviceId}` }
  },
}

/**
 * Puts on record that an operator sees a person's birth date. An operator whose own link to the person still works gets a
 * refusal in its place, which is returned.
 */
export async function recordDate(
  visit: OperatorVisit,
  details: UserDetails,
  deed: Pick<Deed, 'result'> & { readonly action: string },
): Promise<ConsolePage | undefined> {
  const refusal = async () => {
    const why = await whyNoDate(visit, details)
    return why === undefined ? undefined : refusedAlone(visit, details, { action: deed.action, why })
  }
  const refused = await refusal()
  if (refused) return refused
  const { partner, serviceId } = details
  await record(visit, { ...deed, partner, serviceId, reason: reasonOf(visit) })
  // A link may have been made meanwhile; each of the two is stored before it looks for the other.
  return refusal()
}

/** The page in place of what was refused to one operator alone, which a second person may allow. The refusal is on record. */
export async function refusedAlone(
  visit: OperatorVisit,
  details: UserDetails,
  refused: { readonly action: string; readonly why: string },
): Promise<ConsolePage> {
  const { partner, serviceId } = details
  await record(visit, {
    action: refused.action,
    result: 'not alone',
    partner,
    serviceId,
    reason: reasonOf(visit),
  })
  return {
    title: 'A second person is needed',
    status: 409,
    body: html`${ofWhom(details)}
<section class="notice bad" role="status"><h2>Not alone</h2><p>${refused.why} Let another operator do it.</p></section>
${section(
  'Or ask for both',
  html`<p class="hint">If somebody else allows it, you may see the birth date and make links of this person
for ${ALLOWED_HOURS} hours.</p>
${actionForm(visit, {
  action: `/users/${serviceId}/date-and-link`,
  button: 'Ask a second person',
  color: 'primary',
  why: 'why-both',
})}`,
)}`,
  }
}

async function ask(visit: OperatorVisit): Promise<Answer> {
  const { partner, serviceId } = await requiredUser(visit)
  const reason = reasonOf(visit)
  return askSecondPerson(visit, {
    action: 'dateandlink',
    partner,
    serviceId,
    reason,
    payload: {},
    effect: EFFECT,
  })
}
