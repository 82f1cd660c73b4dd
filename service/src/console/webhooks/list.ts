import { html } from '../../http/html.ts'
import { type ListedDelivery, listDeliveries, QUEUE_KINDS } from '../../webhooks/log/deliveries.ts'
import type { OperatorVisit, Screen } from '../screen/screen.ts'
import {
  dated,
  listScreens,
  type OpenList,
  pageOf,
  positionOf,
  positionText,
  ROWS_AT_ONCE,
} from '../views/list.ts'
import {
  countOf,
  healthInWords,
  lastAnswers,
  rankOf,
  requiredEndpoint,
  STATES,
  stateOf,
  stateTag,
} from './endpoint.ts'
import { type EndpointLine, findEndpointLines } from './store.ts'

/** Endpoints by their health; failing ones come first unless the address asks for another order. */
export const webhookListScreens: readonly Screen[] = listScreens({
  path: '/webhooks',
  right: 'look',
  exported: 'export webhooks',
  open: endpoints,
})

async function endpoints(visit: OperatorVisit): Promise<OpenList<EndpointLine>> {
  const { database, real } = visit.context
  const now = real()
  const names = visit.partnerNames
  const state = STATES.find(one => one === visit.query.get('state')) ?? 'all'
  const partner = visit.query.get('partner') ?? ''
  const lines = await findEndpointLines(database, names.has(partner) ? [partner] : [...names.keys()], now)
  return {
    title: 'Webhooks',
    heading: 'Endpoints, those in trouble first',
    file: 'webhooks.csv',
    caption: 'Webhook endpoints by health',
    empty: 'No endpoint of this kind.',
    filters: [
      { name: 'partner', label: 'Partner', value: partner, options: [['', 'all'], ...names] },
      { name: 'state', label: 'Show', value: state, options: ['all', ...STATES] },
    ],
    rows: lines
      .filter(line => state === 'all' || stateOf(line, now) === state)
      .sort((a, b) => rankOf(a, now) - rankOf(b, now) || b.waiting - a.waiting),
    columns: [
      {
        name: 'partner',
        label: 'Partner',
        value: line => names.get(line.partner_id) ?? '',
        cell: line => html`<span class="long">${names.get(line.partner_id)}</span>`,
      },
      {
        name: 'endpoint',
        label: 'Endpoint',
        value: line => new URL(line.url).host,
        cell: line => html`<a href="/webhooks/${line.endpoint_id}">${new URL(line.url).host}</a>`,
      },
      {
        name: 'state',
        label: 'State',
        value: line => stateOf(line, now),
        cell: line => {
          const health = healthInWords(line, now, visit.zoneOf(line.partner_id))
          return html`${stateTag(line, now)}<br><span class="hint long">${health}</span>`
        },
      },
      { name: 'waiting', label: 'Waiting', value: line => line.waiting, cell: line => countOf(line.waiting) },
      dated(
        'oldest',
        'Oldest',
        line => line.oldest_due_at,
        line => visit.zoneOf(line.partner_id),
      ),
      { name: 'givenup', label: 'Given up', value: line => line.dead, cell: line => countOf(line.dead) },
      dated(
        'certificate',
        'Certificate ends',
        line => line.certificate_ends_at,
        line => visit.zoneOf(line.partner_id),
      ),
    ],
  }
}

/** What waits at an endpoint or was given up there. */
export const deliveryScreens: readonly Screen[] = listScreens({
  path: '/webhooks/:endpointid/deliveries',
  right: 'look',
  exported: 'export deliveries',
  open: deliveries,
})

const DELIVERY_STATES = ['waiting', 'given up'] as const

/** All that waits for a time, in its order. */
const waiting = { status: 'waiting', queues: QUEUE_KINDS } as const

type Answered = ListedDelivery & { readonly answer: string | undefined }

async function deliveries(visit: OperatorVisit): Promise<OpenList<Answered>> {
  const endpoint = await requiredEndpoint(visit)
  const { partner, line, target } = endpoint
  const state = DELIVERY_STATES.find(one => one === visit.query.get('state')) ?? 'waiting'
  const isWaiting = state === 'waiting'
  const host = new URL(line.url).host
  const zone = partner.timezone
  const at = (row: Answered) => row.at
  return {
    path: `/webhooks/${line.endpoint_id}/deliveries`,
    title: `Deliveries of ${host}`,
    heading: isWaiting ? 'What waits' : 'What was given up',
    caption: 'Deliveries by state',
    empty: isWaiting ? 'Nothing waits.' : 'Nothing was given up.',
    file: isWaiting ? 'waiting.csv' : 'given-up.csv',
    // Receivers echo what they like in their answers.
    looked: visit.may('support') ? 'look at answers' : undefined,
    partner,
    around: () => ({
      above: html`<p><a href="/webhooks/${line.endpoint_id}">Webhook ${host}</a> of ${partner.name}</p>`,
    }),
    filters: [{ name: 'state', label: 'Show', value: state, options: DELIVERY_STATES }],
    columns: [
      {
        name: 'event',
        label: 'Event',
        value: one => one.eventname,
        cell: one =>
          html`<a href="/users/${one.service_id}#event-${one.event_id}"><code>${one.eventname}</code></a>`,
      },
      { name: 'eventid', label: 'Event id', value: one => one.event_id, isOfFile: true },
      { name: 'serviceid', label: 'User', value: one => one.service_id, isOfFile: true },
      dated('raised', 'Raised', one => one.created_at, zone),
      isWaiting ? dated('nextattempt', 'Next attempt', at, zone) : dated('givenup', 'Given up', at, zone),
      { name: 'attempts', label: 'Attempts', value: one => one.attempts },
      ...(visit.may('support')
        ? [
            {
              name: 'answeredlast',
              label: 'Answered last',
              value: (one: Answered) => one.answer ?? '',
              cell: (one: Answered) => html`<code>${one.answer ?? '–'}</code>`,
            },
          ]
        : []),
    ],
    rows: {
      // The column with an index in each state.
      sortedBy: isWaiting ? 'nextattempt' : 'raised',
      isDownFirst: false,
      async read(after, isDown) {
        const wanted = isWaiting ? waiting : ({ status: 'dead' } as const)
        const page = { isDown, after: positionOf(after), limit: ROWS_AT_ONCE + 1 }
        const lines = await listDeliveries(visit.context.database, { ...target, ...wanted, ...page })
        const { rows, next } = pageOf(lines, one =>
          // Events' ids grow with their time.
          positionText({ at: isWaiting ? one.at : one.created_at, id: one.event_id }),
        )
        // An erasure may just have removed the event of one.
        const kept = rows.filter(one => one.service_id !== '')
        const ids = kept.map(one => one.event_id)
        const answers = visit.may('support') ? await lastAnswers(visit, endpoint, ids) : undefined
        return { rows: kept.map(one => ({ ...one, answer: answers?.get(one.event_id) })), next }
      },
    },
  }
}
