import { HOUR_MS, type Instant } from '../../calendar/calendar.ts'
import { type Html, html, type Slot } from '../../http/html.ts'
import type { HistoryLine, Who } from '../../membership/rules/history.ts'
import { comingLines } from '../../membership/rules/view.ts'
import type { Visit } from '../screen/screen.ts'
import type { EndpointStory, EventStory } from '../user-data/stories.ts'
import type { Change, UserDetails } from '../user-data/user-details.ts'
import { moveWords } from '../views/moves.ts'
import { tag, when } from '../views/parts.ts'

/** Coming and past changes, newest first, with the webhooks of each change; or a page of older ones. */
export function timeline(visit: Visit, details: UserDetails): Html {
  const { partner, user, now, changes } = details
  const zone = partner.timezone
  const sees = visit.isSupport
  const ahead = new Map<Instant, HistoryLine[]>()
  for (const line of details.hasNewer ? [] : comingLines(user).reverse())
    ahead.set(line.at, [...(ahead.get(line.at) ?? []), line])
  const shown = changes.filter(({ lines, events }) => lines.length > 0 || events.length > 0)
  const oldest = changes.at(-1)?.stored?.version
  return html`${details.hasNewer && html`<p><a href="/users/${details.serviceId}">Newest changes</a></p>`}
<ol class="steps">
${[...ahead].map(
  ([at, lines]) =>
    html`<li class="ahead"><p>${when(at, zone)} ${tag('ahead')}</p>${lines.map(line => html`<p>${moveWords(line, details)}${sees && html` <span class="hint">${line.why}</span>`}</p>`)}</li>`,
)}
${!details.hasNewer && html`<li class="now"><p>${when(now, zone)} ${tag('now', 'good')}</p></li>`}
${shown.map(change => changeItem(change, { sees, details, real: visit.context.real() }))}
</ol>
${
  details.hasOlder && oldest !== undefined
    ? html`<p><a href="/users/${details.serviceId}?before=${oldest}">Older changes</a></p>`
    : ''
}`
}

function changeItem(
  change: Change,
  { sees, details, real }: { sees: boolean; details: UserDetails; real: Instant },
): Html {
  const zone = details.partner.timezone
  const { at, lines, events, stored } = change
  const { recorded_at = at, actor = null, request_id = null } = stored ?? {}
  // A change is shown at its effective time; if it was recorded much later, the line says so.
  const isLate = Math.abs(recorded_at - at) > LATE_MS
  return html`<li><p>${when(at, zone)}${isLate && html` <span class="hint">recorded ${when(recorded_at, zone)}</span>`}</p>
${lines.map(line => html`<p>${moveWords(line, details)} <span class="hint">by ${line.who === 'operatorlink' ? 'a link that an operator made' : `the ${line.who}`}${sees && html`: ${line.why}`}</span></p>`)}
${(actor ?? request_id) !== null && html`<p class="hint">${actor !== null && html`${actorWords(actor, lines[0]?.who, details)} `}${request_id !== null && html`request <code>${request_id}</code>`}</p>`}
${events.length > 0 && html`<ul class="events">${events.map(event => eventItem(event, { zone, sees, real }))}</ul>`}</li>`
}

const LATE_MS = HOUR_MS

/** The operator by name; whoever else by what its id is of. */
function actorWords(actor: string, who: Who | undefined, { operators, linkMakers }: UserDetails): Slot {
  const maker = linkMakers.get(actor)
  if (maker !== undefined) return html`page session <code>${actor}</code> by a link that ${maker} made`
  const kind = who === 'partner' ? 'credential ' : who === 'user' ? 'page session ' : ''
  return operators.get(actor) ?? html`${kind}<code>${actor}</code>`
}

type EventShown = { readonly zone: string; readonly sees: boolean; readonly real: Instant }

function eventItem(event: EventStory, shown: EventShown): Html {
  const { event_id, eventname, benefit, endpoints } = event
  return html`<li id="event-${event_id}"><details><summary>${eventname}${benefit !== null && ` (${benefit})`} ${
    endpoints.length === 0
      ? html`<span class="hint">no endpoint asked for it</span>`
      : endpoints.map(one => html`${tag(wordOf(one), toneOf(one))} `)
  }</summary>
<p class="hint">event <code>${event_id}</code>${shown.sees && html` – <a href="/users/${event.service_id}/resend/${event_id}">send again</a>`}</p>
${endpoints.map(one => endpointPart(one, shown))}</details></li>`
}

function wordOf({ state, attempts }: EndpointStory): string {
  const last = attempts.at(-1)
  if (state === 'delivered')
    return attempts.length > 1 ? `delivered, ${attempts.length} attempts` : 'delivered'
  if (state === 'waiting') return last ? `waiting after ${last.result}` : 'waiting'
  return `${state}: ${last?.result ?? 'never tried'}`
}

function toneOf({ state }: EndpointStory): 'good' | 'bad' | 'wait' {
  return state === 'delivered' ? 'good' : state === 'waiting' ? 'wait' : 'bad'
}

function endpointPart(
  { endpointId, host, attempts, dueAt }: EndpointStory,
  { zone, sees, real }: EventShown,
): Html {
  return html`<h3>${host}</h3><ul class="rules">${attempts.map(
    one =>
      html`<li>${when(one.at, zone)}: ${one.result} after ${one.ms} ms${
        one.answer !== undefined && sees
          ? html`<br><code>${one.answer.slice(0, ANSWER_CHARACTERS)}</code>`
          : ''
      }</li>`,
  )}${dueAt !== undefined && html`<li>${dueAt > real ? html`next attempt ${when(dueAt, zone)}` : html`due since ${when(dueAt, zone)}: <a href="/webhooks/${endpointId}">the endpoint</a> fails, is paused or has a backlog`}</li>`}</ul>`
}

const ANSWER_CHARACTERS = 400
