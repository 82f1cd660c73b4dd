import { createHash } from 'node:crypto'
import { html, type Slot } from '../../http/html.ts'
import { effectOf } from '../../membership/rules/effect.ts'
import { isRefusal } from '../../membership/rules/refusal.ts'
import { askSecondPerson, needsSecondPerson } from '../requests/ask.ts'
import type { SecondPersonAction } from '../requests/second-person.ts'
import { record, recordAlongside } from '../screen/record.ts'
import {
  type Answer,
  ConsoleRefusal,
  notHere,
  type OperatorVisit,
  onChange,
  onGet,
  reasonOf,
  type Screen,
} from '../screen/screen.ts'
import { livingUserDetails, type UserDetails } from '../user-data/user-details.ts'
import { actionForm, section } from '../views/parts.ts'
import type { Act } from './act.ts'
import { acts } from './all.ts'
import { showEffect, wordsOf } from './effect.ts'
import { submitAct } from './submit.ts'

/** Changing a user: choose, see the effect, give the reason, do it. */
export const actScreens: readonly Screen[] = [
  onGet('/users/:serviceid/act/:act', 'support', choose),
  onChange('/users/:serviceid/act/:act', 'support', handlePost),
]

/** The user of an act. Throws a refusal when there is no such user, or the user was erased. */
export async function requiredUser(visit: OperatorVisit): Promise<UserDetails> {
  const details = await livingUserDetails(visit)
  if (!details) throw notHere('user')
  return details
}

/** The same for a page that shows something of the user: on record before it is shown. */
export async function lookAtUser(visit: OperatorVisit): Promise<UserDetails> {
  const details = await requiredUser(visit)
  await recordReading(visit, details)
  return details
}

async function recordReading(visit: OperatorVisit, { partner, serviceId }: UserDetails): Promise<void> {
  await record(visit, { action: 'look at user', result: 'shown', partner, serviceId })
}

async function choose(visit: OperatorVisit): Promise<Answer> {
  const act = actOf(visit)
  const details = await lookAtUser(visit)
  const form = actionForm(visit, {
    action: addressOf(details, act),
    button: 'See what it would do',
    fields: act.fields(details),
  })
  return {
    title: act.title,
    body: html`${ofWhom(details)}
${section('What', form)}`,
  }
}

async function handlePost(visit: OperatorVisit): Promise<Answer> {
  const act = actOf(visit)
  const details = await requiredUser(visit)
  const { form } = visit
  const changed = act.decide(form, details)
  const effect = isRefusal(changed) ? '' : effectOf(changed, details, act.why(form)).text
  // Only the effect that was shown may happen: after a change of the user or the catalogue, or once the month in which it was
  // shown is over, the page shows the new effect first.
  const isSeen = isRefusal(changed) || form.get('seen') === seenOf(details, effect)
  if (form.get('sure') !== 'yes' || !isSeen) return preview(visit, act, details)
  const second = await secondFor(visit, act)
  if (second) return ask(visit, { act, details, second })
  const reason = reasonOf(visit)
  const { partner, serviceId } = details
  const deed = { action: `${act.name} user`, partner, serviceId, reason }
  const alongside = [recordAlongside(visit, deed)]
  const actor = visit.operator.operatorId
  const refused = await submitAct({ ...visit.context, requestId: visit.requestId }, details, {
    act,
    form,
    actor,
    alongside,
    effect,
  })
  if (refused?.refused === 'preview_stale') return preview(visit, act, await requiredUser(visit))
  if (refused) {
    await record(visit, { ...deed, result: refused.refused })
    throw new ConsoleRefusal(409, 'Not done', wordsOf(refused))
  }
  return { to: `/users/${serviceId}` }
}

/** The effect of an act, computed by the functions that make the change. */
async function preview(visit: OperatorVisit, act: Act, details: UserDetails): Promise<Answer> {
  await recordReading(visit, details)
  const changed = act.decide(visit.form, details)
  if (isRefusal(changed))
    return {
      title: act.title,
      status: 409,
      body: html`${ofWhom(details)}
<section class="notice bad" role="status"><h2>This cannot be done</h2><p>${wordsOf(changed)}</p></section>
<p><a href="${addressOf(details, act)}">Choose something else</a></p>`,
    }
  const effect = effectOf(changed, details, act.why(visit.form))
  const kept = choicesIn(visit.form).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
  const isRepeat = visit.form.get('sure') === 'yes'
  const asks = (await secondFor(visit, act)) !== undefined
  return {
    title: act.title,
    body: html`${ofWhom(details)}
${isRepeat && html`<p class="notice" role="status">What would happen has changed meanwhile. Look at it again.</p>`}
${section('What would happen', html`${showEffect(effect, details)}${act.kept?.(visit.form, details)}`)}
${
  effect.lines.length > 0 &&
  section(
    asks ? 'Ask for it' : 'Do it',
    html`${asks && html`<p class="hint">Somebody else has to confirm it before it is done.</p>`}
${actionForm(visit, {
  action: addressOf(details, act),
  button: asks ? 'Ask a second person' : act.button,
  color: act.color ?? 'primary',
  fields: html`${kept}<input type="hidden" name="sure" value="yes">
<input type="hidden" name="seen" value="${seenOf(details, effect.text)}">`,
  why: 'why-act',
})}`,
  )
}
<p><a href="/users/${details.serviceId}">Leave it as it is</a></p>`,
  }
}

/** The operator's choices in a form. */
function choicesIn(form: URLSearchParams): [name: string, value: string][] {
  return [...form].filter(([name]) => !['token', 'sure', 'seen', 'reason'].includes(name))
}

/** The action that a second person has to confirm, if this act needs one at present. */
async function secondFor(visit: OperatorVisit, { second }: Act): Promise<SecondPersonAction | undefined> {
  return second && (await needsSecondPerson(visit, second)) ? second : undefined
}

/** Requests a second person's confirmation of an act, with its present effect. */
async function ask(
  visit: OperatorVisit,
  { act, details, second }: { act: Act; details: UserDetails; second: SecondPersonAction },
): Promise<Answer> {
  const reason = reasonOf(visit)
  const changed = act.decide(visit.form, details)
  if (isRefusal(changed)) return preview(visit, act, details)
  const { partner, serviceId } = details
  return askSecondPerson(visit, {
    action: second,
    partner,
    serviceId,
    reason,
    payload: { form: new URLSearchParams(choicesIn(visit.form)).toString() },
    effect: effectOf(changed, details, act.why(visit.form)).text,
  })
}

/** The state of the user and the effect that a page showed, as its form sends them back. */
function seenOf({ changes }: UserDetails, effect: string): string {
  const version = changes[0]?.stored?.version ?? 0
  return createHash('sha256').update(`${version} ${effect}`).digest('hex')
}

function actOf(visit: OperatorVisit): Act {
  const act = acts.find(({ name }) => name === visit.params['act'])
  if (!act) throw notHere('action')
  return act
}

function addressOf({ serviceId }: UserDetails, { name }: Act): string {
  return `/users/${serviceId}/act/${name}`
}

/** The user whom a page of an act concerns. */
export function ofWhom({ partner, user, serviceId }: UserDetails): Slot {
  return html`<p class="hint">User <a href="/users/${serviceId}">${user.userid}</a> of ${partner.name}</p>`
}
