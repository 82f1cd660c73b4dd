import { html } from '../../http/html.ts'
import { type ListedDelivery, listDeliveries, QUEUE_KINDS } from '../../webhooks/log/deliveries.ts'
import { positionOf, positionText } from '../position.ts'
import type { OperatorVisit, Screen } from '../screen/screen.ts'
import { listScreens, type OpenList, pageOf, ROWS_AT_ONCE } from '../views/declared-list.ts'
import { dated } from '../views/list.ts'
import { lastAnswers, requiredEndpoint } from './endpoint.ts'

/** What waits at an endpoint or was given up there. */
export const deliveryScreens: readonly Screen[] = listScreens({
  path: '/webhooks/:endpointid/deliveries',
  role: 'viewer',
  exported: 'export deliveries',
  open,
})

const STATES = ['waiting', 'given up'] as const

/** All that waits for a time, in its order. */
const waiting = { status: 'waiting', queues: QUEUE_KINDS } as const

type Answered = ListedDelivery & { readonly answer: string | undefined }

async function open(visit: OperatorVisit): Promise<OpenList<Answered>> {
  const endpoint = await requiredEndpoint(visit)
  const { partner, line, target } = endpoint
  const state = STATES.find(one => one === visit.query.get('state')) ?? 'waiting'
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
    looked: visit.isSupport ? 'look at answers' : undefined,
    partner,
    around: () => ({
      above: html`<p><a href="/webhooks/${line.endpoint_id}">Webhook ${host}</a> of ${partner.name}</p>`,
    }),
    filters: [{ name: 'state', label: 'Show', value: state, options: STATES }],
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
      { name: 'attempts', label: 'Tries', value: one => one.attempts },
      ...(visit.isSupport
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
        const answers = visit.isSupport ? await lastAnswers(visit, endpoint, ids) : undefined
        return { rows: kept.map(one => ({ ...one, answer: answers?.get(one.event_id) })), next }
      },
    },
  }
}
