import { createHash } from 'node:crypto'
import { html } from '../../http/html.ts'
import { isRefusal } from '../../membership/rules/refusal.ts'
import { askSecondPerson, needsSecondPerson } from '../requests/request.ts'
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
import { type LivingUser, lookAtUser, ofWhom, requiredUser } from '../user-data/living-user.ts'
import { actionForm, section } from '../views/parts.ts'
import { type Act, showEffect, submitAct, tryAct, wordsOf } from './act.ts'
import { acts } from './all.ts'

/** Changing a user: choose, see the effect, give the reason, do it. */
export const actScreens: readonly Screen[] = [
  onGet('/users/:serviceid/act/:act', 'support', choose),
  onChange('/users/:serviceid/act/:act', 'support', handlePost),
]

async function choose(visit: OperatorVisit): Promise<Answer> {
  const act = actOf(visit)
  if (!act.fields) return preview(visit, act)
  const of = await lookAtUser(visit)
  const form = actionForm(visit, {
    action: addressOf(of, act),
    button: 'See what it would do',
    fields: act.fields(of),
  })
  return {
    title: act.title,
    body: html`${ofWhom(of)}
${section('What', form)}`,
  }
}

async function handlePost(visit: OperatorVisit): Promise<Answer> {
  const act = actOf(visit)
  const of = await requiredUser(visit)
  const { form, context, requestId, operator } = visit
  const tried = tryAct(act, form, of)
  const effect = isRefusal(tried) ? '' : tried.text
  // Only the effect that was shown may happen: after a change of the user or the catalogue, or once the month in which it was
  // shown is over, the page shows the new effect first.
  const isStale = !isRefusal(tried) && form.get('seen') !== seenOf(effect)
  if (!form.has('seen') || isStale) return preview(visit, act)
  const reason = reasonOf(visit)
  const { partner, serviceId } = of
  if (!isRefusal(tried) && act.second && (await needsSecondPerson(visit, act.second)))
    return askSecondPerson(visit, {
      action: act.second,
      partner,
      serviceId,
      reason,
      payload: { form: new URLSearchParams(choicesIn(form)).toString() },
      effect,
    })
  const deed = { action: `${act.name} user`, partner, serviceId, reason }
  const refused = await submitAct({ ...context, requestId }, of, {
    act,
    form,
    actor: operator.operatorId,
    alongside: [recordAlongside(visit, deed)],
    effect,
  })
  if (refused?.refused === 'preview_stale') return preview(visit, act)
  if (refused) {
    await record(visit, { ...deed, result: refused.refused })
    throw new ConsoleRefusal(409, 'Not done', wordsOf(refused))
  }
  return { to: `/users/${serviceId}` }
}

/** The page with the effect of an act. */
async function preview(visit: OperatorVisit, act: Act): Promise<Answer> {
  const of = await lookAtUser(visit)
  const { form } = visit
  const effect = tryAct(act, form, of)
  if (isRefusal(effect))
    return {
      title: act.title,
      status: 409,
      body: html`${ofWhom(of)}
<section class="notice bad" role="status"><h2>This cannot be done</h2><p>${wordsOf(effect)}</p></section>
<p><a href="${addressOf(of, act)}">Choose something else</a></p>`,
    }
  const kept = choicesIn(form).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
  const asks = act.second !== undefined && (await needsSecondPerson(visit, act.second))
  return {
    title: act.title,
    body: html`${ofWhom(of)}
${form.has('seen') && html`<p class="notice" role="status">What would happen has changed meanwhile. Look at it again.</p>`}
${section('What would happen', html`${showEffect(effect, of)}${act.kept?.(form, of)}`)}
${
  effect.lines.length > 0 &&
  section(
    asks ? 'Ask for it' : 'Do it',
    html`${asks && html`<p class="hint">Somebody else has to confirm it before it is done.</p>`}
${actionForm(visit, {
  action: addressOf(of, act),
  button: asks ? 'Ask a second person' : act.button,
  color: act.color ?? 'primary',
  fields: html`${kept}<input type="hidden" name="seen" value="${seenOf(effect.text)}">`,
  why: 'why-act',
})}`,
  )
}
<p><a href="/users/${of.serviceId}">Leave it as it is</a></p>`,
  }
}

/** The operator's choices in a form. */
function choicesIn(form: URLSearchParams): [name: string, value: string][] {
  return [...form].filter(([name]) => !['token', 'seen', 'reason'].includes(name))
}

/** The effect that a page showed, as its form sends it back. */
function seenOf(effect: string): string {
  return createHash('sha256').update(effect).digest('hex')
}

function actOf(visit: OperatorVisit): Act {
  const act = acts.find(({ name }) => name === visit.params['act'])
  if (!act) throw notHere('action')
  return act
}

function addressOf({ serviceId }: LivingUser, { name }: Act): string {
  return `/users/${serviceId}/act/${name}`
}
