import { DAY_MS, dateAt, startOfDate } from '../../calendar/calendar.ts'
import { html, type Slot } from '../../http/html.ts'
import { operatorNames } from '../../operators/store.ts'
import { requestKinds } from '../acts/request-kinds.ts'
import { findLookedAt } from '../audit/store.ts'
import { listRequests } from '../requests/store.ts'
import { type Answer, type OperatorVisit, onGet, type Screen } from '../screen/screen.ts'
import { day, section, shortId, when } from '../views/parts.ts'
import { healthInWords, rankOf, stateOf, stateTag } from '../webhooks/health.ts'
import { findEndpointLines } from '../webhooks/store.ts'
import { runningLine } from './running.ts'

/** The first page: what waits for the operator, what is in trouble, and whom the operator looked at today. */
export const homeScreens: readonly Screen[] = [onGet('/', 'viewer', home)]

async function home(visit: OperatorVisit): Promise<Answer> {
  const [running, waiting, failing, looked] = await Promise.all([
    runningLine(visit),
    waitingPart(visit),
    failingPart(visit),
    lookedPart(visit),
  ])
  const partners =
    visit.operator.partners === undefined ? 'all partners' : [...visit.partnerNames.values()].join(', ')
  return {
    title: 'Find a user',
    body: html`<p class="lead">The field above takes whatever the caller can say:
a userid or the reference of a confirmation${visit.isSupport && ', an email or a phone number'};
or the id of an event or a request.</p>
<p class="hint">You work for ${partners}.</p>
${running}
<div class="columns"><div>${waiting}${failing}</div><div>${looked}</div></div>`,
  }
}

/** So many lines of each part; the rest is on its own screen. */
const MOST = 7

async function waitingPart(visit: OperatorVisit): Promise<Slot> {
  if (!visit.isSupport) return ''
  const { database, real } = visit.context
  const [all, names] = await Promise.all([
    listRequests(database, [...visit.partnerNames.keys()], real()),
    operatorNames(database),
  ])
  const waiting = all.filter(
    ({ state, asked_by }) => state === 'waiting' && asked_by !== visit.operator.operatorId,
  )
  const titleOf = (action: string) => requestKinds.find(one => one.action === action)?.title ?? action
  return section(
    'Waits for you',
    waiting.length === 0
      ? html`<p class="hint">Nothing.</p>`
      : html`<ul class="rules">${waiting.slice(0, MOST).map(
          one =>
            html`<li>
<a href="/requests/${one.request_id}">${titleOf(one.action)}</a> at ${visit.partnerNames.get(one.partner_id)},
asked for by ${names.get(one.asked_by)} on ${day(one.asked_at, visit.zoneOf(one.partner_id))}</li>`,
        )}</ul>`,
    waiting.length > MOST && html`<a href="/requests?state=waiting">All ${waiting.length}</a>`,
  )
}

async function failingPart(visit: OperatorVisit): Promise<Slot> {
  const { database, real } = visit.context
  const now = real()
  const lines = await findEndpointLines(database, [...visit.partnerNames.keys()], now)
  const failing = lines
    .filter(line => stateOf(line, now) !== 'ok')
    .sort((a, b) => rankOf(a, now) - rankOf(b, now) || b.waiting - a.waiting)
  return section(
    'Endpoints in trouble',
    failing.length === 0
      ? html`<p class="hint">None.</p>`
      : html`<ul class="rules">${failing.slice(0, MOST).map(
          line =>
            html`<li>
<a href="/webhooks/${line.endpoint_id}">${new URL(line.url).host}</a> of ${visit.partnerNames.get(line.partner_id)}
${stateTag(line, now)} <span class="hint">${healthInWords(line, now, visit.zoneOf(line.partner_id))}</span></li>`,
        )}</ul>`,
    failing.length > MOST && html`<a href="/webhooks">All ${failing.length}</a>`,
  )
}

async function lookedPart(visit: OperatorVisit): Promise<Slot> {
  const { database, real } = visit.context
  const { zone, operator, partnerNames } = visit
  const since = Math.max(startOfDate(dateAt(real(), zone), zone), real() - DAY_MS)
  const looked = await findLookedAt(database, [...partnerNames.keys()], {
    by: operator.operatorId,
    since,
    limit: MOST,
  })
  return section(
    'Whom you looked at today',
    looked.length === 0
      ? html`<p class="hint">Nobody yet.</p>`
      : html`<ul class="rules">${looked.map(
          one =>
            html`<li>
<a href="/users/${one.service_id}">${visit.isSupport ? one.userid : shortId(one.service_id)}</a> of
${partnerNames.get(one.partner_id)}
<span class="hint">${when(one.at, visit.zoneOf(one.partner_id))}</span></li>`,
        )}</ul>`,
  )
}
