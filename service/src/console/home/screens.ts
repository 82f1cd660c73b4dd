import { DAY_MS, dateAt, type Instant, MINUTE_MS, startOfDate, type Zone } from '../../calendar/calendar.ts'
import type { Database } from '../../db/database.ts'
import { SERVICE_SESSIONS } from '../../db/pool.ts'
import { sql } from '../../db/sql.ts'
import { type Html, html, type Slot } from '../../http/html.ts'
import { operatorNames } from '../../operators/store.ts'
import { listClocks } from '../../partners/store.ts'
import { earliestDue } from '../../schedule/due.ts'
import { readBacklog } from '../../webhooks/delivery/backlog.ts'
import { titleOfRequest } from '../acts/all.ts'
import { findLookedAt } from '../audit/store.ts'
import { seenPartners } from '../partners.ts'
import { listRequests } from '../requests/store.ts'
import { type Answer, type OperatorVisit, onGet, type Screen } from '../screen/screen.ts'
import { day, section, shortId, when } from '../views/parts.ts'
import { healthInWords, rankOf, stateOf, stateTag } from '../webhooks/endpoint.ts'
import { findEndpointLines } from '../webhooks/store.ts'

/** The first page: what waits for the operator, what is in trouble, and whom the operator looked at today. */
export const homeScreens: readonly Screen[] = [onGet('/', 'look', home)]

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
a userid or the reference of a confirmation${visit.may('support') && ', an email or a phone number'};
or the id of an event or a request.</p>
<p class="hint">You work for ${partners}.</p>
${running}
<div class="columns"><div>${waiting}${failing}</div><div>${looked}</div></div>`,
  }
}

/** So many lines of each part; the rest is on its own screen. */
const MOST = 7

async function waitingPart(visit: OperatorVisit): Promise<Slot> {
  if (!visit.may('support')) return ''
  const { database, real } = visit.context
  const [all, names] = await Promise.all([
    listRequests(database, seenPartners(visit), real()),
    operatorNames(database),
  ])
  const waiting = all.filter(
    ({ state, asked_by }) => state === 'waiting' && asked_by !== visit.operator.operatorId,
  )
  return section(
    'Waits for you',
    waiting.length === 0
      ? html`<p class="hint">Nothing.</p>`
      : html`<ul class="rules">${waiting.slice(0, MOST).map(
          one =>
            html`<li>
<a href="/requests/${one.request_id}">${titleOfRequest(one.action)}</a> at ${visit.partnerNames.get(one.partner_id) ?? 'all partners'},
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
<a href="/users/${one.service_id}">${visit.may('support') ? one.userid : shortId(one.service_id)}</a> of
${partnerNames.get(one.partner_id)}
<span class="hint">${when(one.at, visit.zoneOf(one.partner_id))}</span></li>`,
        )}</ul>`,
  )
}

/** Whether a process of the service is connected to the database, and since when this copy is quiet. */
export type RunningInstallation = { runs: boolean; quiet_since: Instant | null }

/** Asks the database whether anything runs. */
export async function readInstallation(database: Database): Promise<RunningInstallation> {
  // A process that delivers asks every two seconds where something is due, so it always has a session.
  const [row] = await database.query<RunningInstallation>(sql`
    select quiet_since, exists (select from pg_stat_activity
      where datname = current_database() and application_name = ${SERVICE_SESSIONS}) as runs
    from installation`)
  return row ?? { runs: false, quiet_since: null }
}

/** Deliveries and due changes take seconds: what waits for longer shows that something stands still. */
const LATE_MS = 2 * MINUTE_MS

/** One line: whether deliveries and due changes run, and how late they are. `/metrics` of the service has the rest. */
export async function runningLine({ context, zone }: OperatorVisit): Promise<Html> {
  const { database, clock, real } = context
  const now = real()
  const [installation, clocks, backlog] = await Promise.all([
    readInstallation(database),
    listClocks(database),
    readBacklog(database, { now, limit: 1 }),
  ])
  const partners = clocks.map(one => ({ partnerId: one.partnerId, now: clock.now(one) }))
  const nows = new Map(partners.map(one => [one.partnerId, one.now]))
  const due = await earliestDue(database, partners)
  return describeRunning({
    ...installation,
    zone,
    dueMs: Math.max(0, ...due.map(({ partnerId, dueAt }) => (nows.get(partnerId) ?? 0) - dueAt)),
    webhookMs: now - (backlog.find(({ state }) => state === 'ok')?.oldest_due_at ?? now),
  })
}

/** The line for how late the earliest due change is, and the oldest webhook that waits at a healthy endpoint. */
export function describeRunning(
  running: RunningInstallation & { readonly dueMs: number; readonly webhookMs: number; readonly zone: Zone },
): Html {
  const { runs, quiet_since, dueMs, webhookMs, zone } = running
  if (quiet_since !== null)
    return bad(
      html`This copy is quiet since ${when(
        quiet_since,
        zone,
      )}: it sends no webhooks, applies no due changes and refuses writes.`,
    )
  if (!runs) return bad('No process sends webhooks or applies due changes: the service does not run.')
  const text = `The service runs: due changes ${lateness(dueMs)}, webhooks to healthy endpoints ${lateness(webhookMs)}.`
  return Math.max(dueMs, webhookMs) > LATE_MS ? bad(text) : html`<p class="hint">${text}</p>`
}

function bad(text: Slot): Html {
  return html`<p class="notice bad" role="status">${text}</p>`
}

function lateness(ms: number): string {
  return ms > LATE_MS ? `are ${Math.round(ms / MINUTE_MS)} minutes late` : 'are on time'
}
