import { HOUR_MS, type Instant } from '../../calendar/calendar.ts'
import { type Html, html, type Slot } from '../../http/html.ts'
import type { HistoryLine, Who } from '../../membership/rules/history.ts'
import { comingLines } from '../../membership/rules/view.ts'
import type { OperatorVisit } from '../screen/screen.ts'
import type { EndpointStory, EventStory } from '../user-data/stories.ts'
import type { Change, UserDetails } from '../user-data/user-details.ts'
import { day, tag, when } from '../views/parts.ts'
import { dayOfDue, isInsurers, lineOf, type Of, tell } from '../views/told.ts'

/**
 * Coming and past changes, newest first, each in a sentence; its lines, its ids and its webhooks behind *Details*. Or a page of
 * older ones.
 */
export function timeline(visit: OperatorVisit, details: UserDetails & Pick<Of, 'names'>): Html {
  const { partner, user, now, changes } = details
  const zone = partner.timezone
  const ahead = new Map<Instant, HistoryLine[]>()
  for (const line of details.hasNewer ? [] : comingLines(user).reverse())
    ahead.set(line.at, [...(ahead.get(line.at) ?? []), line])
  const shown = together(changes.filter(({ lines, events }) => lines.length > 0 || events.length > 0))
  const oldest = changes.at(-1)?.stored?.version
  return html`${details.hasNewer && html`<p><a href="/users/${details.serviceId}">Newest changes</a></p>`}
<ol class="steps">
${[...ahead].map(
  ([at, lines]) =>
    html`<li class="ahead"><p>${day(dayOfDue(lines, at), zone)} ${tag('ahead')}</p>
<p>${tell({ lines }, details, visit.may('support')).join(' ')}</p><details><summary>Details</summary><p>${when(at, zone)}</p>
${linesPart(lines, visit.may('support'))}</details></li>`,
)}
${!details.hasNewer && html`<li class="now"><p>${day(now, zone)} ${tag('today', 'good')}</p></li>`}
${shown.map(change => changeItem(change, { sees: visit.may('support'), details, real: visit.context.real() }))}
</ol>
${
  details.hasOlder && oldest !== undefined
    ? html`<p><a href="/users/${details.serviceId}?before=${oldest}">Older changes</a></p>`
    : ''
}`
}

type ChangeShown = { readonly sees: boolean; readonly details: UserDetails; readonly real: Instant }

function changeItem(change: Change, { sees, details, real }: ChangeShown): Html {
  const zone = details.partner.timezone
  const { at, lines, events, stored } = change
  const { recorded_at = at, actor = null, request_id = null, who = 'schedule' } = stored ?? {}
  // A change is shown at its effective time; if it was recorded much later, the details say so.
  const isLate = Math.abs(recorded_at - at) > LATE_MS
  return html`<li><p>${day(who === 'schedule' ? dayOfDue(lines, at) : at, zone)}</p>
<p>${tell(change, details, sees).join(' ') || 'The person’s data are changed.'}
<span class="hint">${isInsurers(change) ? 'by the feed' : byWhom(who, actor, details)}</span></p>
<details><summary>Details ${events.map(event => stateTags(event))}</summary>
<p>${when(at, zone)}${isLate && html`, recorded ${when(recorded_at, zone)}`}</p>
${linesPart(lines, sees)}
${
  (actor ?? request_id) !== null &&
  html`<p class="hint">${actor !== null && html`${actorWords(actor, who, details)} `}
${request_id !== null && html`request <code>${request_id}</code>`}</p>`
}
${events.map(event => eventPart(event, { zone, sees, real }))}</details></li>`
}

const LATE_MS = HOUR_MS

/** An insurer answers benefit by benefit; the answers about several benefits that one file brought are told as one. */
function together(changes: readonly Change[]): readonly Change[] {
  const told: Change[] = []
  for (const change of changes) {
    const newer = told.at(-1)
    const isOneAnswer =
      newer !== undefined &&
      [newer, change].every(isInsurers) &&
      newer.stored?.actor === change.stored?.actor &&
      newer.at - change.at <= LATE_MS &&
      !newer.events.some(one => change.events.some(({ benefit }) => benefit === one.benefit))
    if (isOneAnswer) told.splice(-1, 1, { ...newer, events: [...change.events, ...newer.events] })
    else told.push(change)
  }
  return told
}

function linesPart(lines: readonly HistoryLine[], sees: boolean): Html {
  return html`<ul class="rules">${lines.map(
    line => html`<li>${lineOf(line)}${sees && html` <span class="hint">${line.why}</span>`}</li>`,
  )}</ul>`
}

/** Who made a change, for the sentence. */
function byWhom(who: Who, actor: string | null, { partner, operators, linkMakers }: UserDetails): string {
  const name = actor === null ? undefined : operators.get(actor)
  switch (who) {
    case 'partner':
      return `by ${partner.name}`
    case 'user':
      return 'by the person'
    case 'operator':
      return `by ${name ?? 'an operator'}`
    case 'operatorlink':
      return `by a link that ${linkMakers.get(actor ?? '') ?? 'an operator'} made`
    case 'schedule':
      return 'by itself, on its day'
  }
}

/** The operator by name; whoever else by what its id is of. */
function actorWords(actor: string, who: Who, { operators, linkMakers }: UserDetails): Slot {
  const maker = linkMakers.get(actor)
  if (maker !== undefined) return html`page session <code>${actor}</code> by a link that ${maker} made`
  const kind = who === 'partner' ? 'credential ' : who === 'user' ? 'page session ' : ''
  return operators.get(actor) ?? html`${kind}<code>${actor}</code>`
}

type EventShown = { readonly zone: string; readonly sees: boolean; readonly real: Instant }

function stateTags({ endpoints }: EventStory): Slot {
  return endpoints.map(one => html`${tag(wordOf(one), toneOf(one))} `)
}

function eventPart(event: EventStory, shown: EventShown): Html {
  const { event_id, eventname, benefit, endpoints } = event
  const name = html`<code>${eventname}${benefit !== null && ` (${benefit})`}</code>`
  return html`<section class="events"><h3 id="event-${event_id}">${name} ${
    endpoints.length === 0 ? html`<span class="hint">no endpoint asked for it</span>` : stateTags(event)
  }</h3>
<p class="hint">event <code>${event_id}</code>${
    shown.sees && html` – <a href="/users/${event.service_id}/resend/${event_id}">send again</a>`
  }</p>
${endpoints.map(one => endpointPart(one, shown))}</section>`
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
  return html`<p>${host}</p><ul class="rules">${attempts.map(
    one =>
      html`<li>${when(one.at, zone)}: ${one.result} after ${one.ms} ms${
        one.answer !== undefined && sees
          ? html`<br><code>${one.answer.slice(0, ANSWER_CHARACTERS)}</code>`
          : ''
      }</li>`,
  )}${
    dueAt !== undefined &&
    html`<li>${
      dueAt > real
        ? html`next attempt ${when(dueAt, zone)}`
        : html`due since ${when(dueAt, zone)}: <a href="/webhooks/${endpointId}">the endpoint</a> fails,
is paused or has a backlog`
    }</li>`
  }</ul>`
}

const ANSWER_CHARACTERS = 400
