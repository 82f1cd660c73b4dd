import { DAY_MS } from '../../calendar/calendar.ts'
import { html } from '../../http/html.ts'
import { isRefusal } from '../../membership/rules/refusal.ts'
import { mintLinkToken } from '../../registration/links/link-tokens.ts'
import { accountsOf, allowedAlone, askToBeAllowed } from '../requests/request.ts'
import { ALLOWED_HOURS } from '../requests/store.ts'
import { record, recordAlongside } from '../screen/record.ts'
import {
  type Answer,
  ConsoleRefusal,
  choiceOf,
  type OperatorVisit,
  onChange,
  type Screen,
} from '../screen/screen.ts'
import { type LivingUser, ofWhom, requiredUser } from '../user-data/living-user.ts'
import { hasSeenBirthDate } from '../user-data/store.ts'
import { actionForm, section, selectField, when } from '../views/parts.ts'
import { wordsOf } from './act.ts'
import { reasonedScreens } from './reasoned.ts'

const PURPOSES = {
  registration: 'Register and enroll',
  benefits: 'See and change benefits',
  swap: 'Swap benefits',
  offerchange: 'Change the offer',
} as const
const DISABLED =
  'This partner was stopped, so its pages open for nobody, and no link of it works. An admin can let it in again.'
/** The link asks for nothing but the birth date: with both, one operator could act as the person. */
const SEEN_FOR_DAYS = 30

/** Makes a link that the operator gives to the person. */
export const linkScreens: readonly Screen[] = [
  ...reasonedScreens({
    path: '/users/:serviceid/link',
    right: 'support',
    kind: 'change',
    title: 'Make a link',
    find: requiredUser,
    whom: ofWhom,
    asked: (_visit, { partner, user }) => ({
      heading: 'What for',
      hint:
        partner.disabledAt === undefined
          ? html`<p class="hint">The link works once, for 24 hours.
Where the birth date is known, the page asks for it before it shows anything. We send nothing:
you pass the link on, to the person alone. Whatever is done by it is on record as done by a link that you made.</p>`
          : html`<p class="notice bad" role="status">${DISABLED}</p>
<p><a href="/partners/${partner.partnerId}">The partner</a></p>`,
      button: 'Make the link',
      isShut: partner.disabledAt !== undefined,
      fields: selectField(
        'purpose',
        'It opens',
        Object.entries(PURPOSES),
        user.status === 'active' ? 'benefits' : 'registration',
      ),
    }),
    answer: make,
  }),
  onChange('/users/:serviceid/date-and-link', 'support', async visit =>
    askToBeAllowed(visit, 'dateandlink', await requiredUser(visit)),
  ),
]

async function make(visit: OperatorVisit, of: LivingUser, reason: string): Promise<Answer> {
  const { partner, user, serviceId } = of
  const purpose = choiceOf(visit, 'purpose', PURPOSES)
  const deed = { action: 'make link', partner, serviceId, reason }
  const refuse = async (result: string, words: string) => {
    await record(visit, { ...deed, result })
    return new ConsoleRefusal(409, 'Not done', words)
  }
  if (partner.disabledAt !== undefined) throw await refuse('partner_disabled', DISABLED)
  if (await hasSeenDate(visit, of)) return refusedAlone(visit, of, reason)
  const publicUrl = await visit.context.publicUrl()
  const made = await mintLinkToken(
    { ...visit.context, baseUrl: () => publicUrl },
    partner,
    { userid: user.userid, purpose, delivery: 'sms' },
    { by: visit.operator.operatorId, alongside: [recordAlongside(visit, deed)] },
  )
  if (isRefusal(made)) throw await refuse(made.refused, wordsOf(made))
  return {
    title: 'The link',
    body: html`${ofWhom(of)}
<section class="notice" role="status"><h2>Pass this on to the person alone</h2><p
class="secret"><code>${made.linkurl}</code></p>
<p>It works once, for 24 hours, until ${when(Date.parse(made.expiresat), partner.timezone)},
and is not shown again.</p></section>`,
  }
}

/** Whether the operator has seen the person's birth date lately, and no second person has allowed a link all the same. */
async function hasSeenDate(visit: OperatorVisit, { user }: LivingUser): Promise<boolean> {
  if (await allowedAlone(visit, 'dateandlink', user)) return false
  const since = visit.context.real() - SEEN_FOR_DAYS * DAY_MS
  return hasSeenBirthDate(visit.context.database, user, { by: await accountsOf(visit), since })
}

/** The page in place of the link. */
async function refusedAlone(visit: OperatorVisit, of: LivingUser, reason: string): Promise<Answer> {
  const { partner, serviceId } = of
  await record(visit, { action: 'make link', result: 'not alone', partner, serviceId, reason })
  return {
    title: 'A second person is needed',
    status: 409,
    body: html`${ofWhom(of)}
<section class="notice bad" role="status"><h2>Not alone</h2><p>You have seen this birth date,
or what an insurer wrote of the person, within the last ${SEEN_FOR_DAYS} days,
and with a birth date you could open the link yourself. Let another operator do it.</p></section>
${section(
  'Or ask for it',
  html`<p class="hint">If somebody else allows it, you may make links of this person for ${ALLOWED_HOURS} hours.</p>
${actionForm(visit, {
  action: `/users/${serviceId}/date-and-link`,
  button: 'Ask a second person',
  color: 'primary',
  why: 'why-both',
})}`,
)}`,
  }
}
