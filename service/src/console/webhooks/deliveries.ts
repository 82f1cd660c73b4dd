import { formatTimestamp } from '../../calendar/calendar.ts'
import { html } from '../../http/html.ts'
import { type Position, positionOf, positionText } from '../position.ts'
import { type Answer, onGet, type Screen, type Visit } from '../screen/screen.ts'
import { sortField } from '../views/list.ts'
import {
  isDownIn,
  type LongList,
  longFile,
  longHeading,
  longPages,
  queryOf,
  ROWS_AT_ONCE,
  type Slice,
  sliceOf,
} from '../views/long-list.ts'
import { part, selectField, table, when } from '../views/parts.ts'
import { answersOf, lastAnswers, type NamedEndpoint, requiredEndpoint } from './endpoint.ts'
import { findOpenLines, type OpenLine, positionOfLine } from './store.ts'

/** What waits at an endpoint or was given up there, page by page and as a file. */
export const deliveryScreens: readonly Screen[] = [
  onGet('/webhooks/:endpointid/deliveries', 'viewer', show),
  onGet('/webhooks/:endpointid/deliveries.csv', 'support', download),
]

const STATES = ['waiting', 'given up'] as const

type Filter = NamedEndpoint & { readonly state: OpenLine['state']; readonly list: LongList }

async function filterOf(visit: Visit): Promise<Filter> {
  const endpoint = await requiredEndpoint(visit)
  const state = STATES.find(one => one === visit.query.get('state')) ?? 'waiting'
  const path = `/webhooks/${endpoint.line.endpoint_id}/deliveries`
  const column = COLUMN[state].name
  return {
    ...endpoint,
    state,
    list: { path, filters: { state }, column, isDown: isDownIn(visit.query, column, false) },
  }
}

/** The column with an index in each state. */
const COLUMN = {
  waiting: { name: 'due', label: 'Next attempt' },
  'given up': { name: 'raised', label: 'Raised' },
} as const

async function linesAfter(
  { context }: Visit,
  { target, state, list }: Filter,
  after: Position | undefined,
): Promise<Slice<OpenLine, Position>> {
  const lines = await findOpenLines(context.database, {
    ...target,
    state,
    isDown: list.isDown,
    after,
    limit: ROWS_AT_ONCE + 1,
  })
  return sliceOf(lines, positionOfLine)
}

async function show(visit: Visit): Promise<Answer> {
  const filter = await filterOf(visit)
  const { partner, line, state, list } = filter
  const after = positionOf(visit.query.get('after'))
  const { rows, next } = await linesAfter(visit, filter, after)
  const sees = visit.isSupport
  const ids = rows.map(one => one.event_id)
  const answers = await answersOf(visit, filter, ids)
  const host = new URL(line.url).host
  const { timezone } = partner
  const sorted = longHeading(list, COLUMN[state].label)
  return {
    title: `Deliveries of ${host}`,
    body: html`<p><a href="/webhooks/${line.endpoint_id}">Webhook ${host}</a> of ${partner.name}</p>
<form method="get" action="${list.path}" class="row">
${selectField('state', 'Show', STATES, state)}
${sortField(visit.query)}<button class="secondary">Show</button></form>
${part(
  state === 'waiting' ? 'What waits' : 'What was given up',
  html`${table({
    caption: `Deliveries by state, times of ${timezone}`,
    columns: [
      'Event',
      ...(state === 'waiting' ? ['Raised', sorted] : [sorted, 'Given up']),
      'Tries',
      ...(sees ? ['Answered last'] : []),
    ],
    rows: rows.map(one => [
      html`<a href="/users/${one.service_id}#event-${one.event_id}">${one.eventname}</a>`,
      when(one.created_at, timezone),
      when(one.at, timezone),
      one.attempts,
      ...(sees ? [html`<code>${answers.get(one.event_id) ?? '–'}</code>`] : []),
    ]),
    empty: state === 'waiting' ? 'Nothing waits.' : 'Nothing was given up.',
  })}
${longPages(list, { isFirst: after === undefined, next: next && positionText(next) })}`,
  sees && html`<a href="${list.path}.csv?${queryOf(list)}">CSV</a>`,
)}`,
  }
}

async function download(visit: Visit): Promise<Answer> {
  const filter = await filterOf(visit)
  const { state, partner } = filter
  const file = state === 'waiting' ? 'waiting.csv' : 'given-up.csv'
  const at = state === 'waiting' ? 'nextattempt' : 'givenup'
  return longFile<Position>(
    visit,
    { file, action: 'export deliveries', partner },
    {
      head: ['event', 'eventid', 'serviceid', 'raised', at, 'attempts', 'answeredlast'],
      read: async after => {
        const { rows, next } = await linesAfter(visit, filter, after)
        const ids = rows.map(one => one.event_id)
        const answers = await lastAnswers(visit, filter, ids)
        return { rows: rows.map(one => cellsOf(one, answers)), next }
      },
    },
  )
}

function cellsOf(one: OpenLine, answers: ReadonlyMap<string, string>): (string | number)[] {
  return [
    one.eventname,
    one.event_id,
    one.service_id,
    formatTimestamp(one.created_at),
    formatTimestamp(one.at),
    one.attempts,
    answers.get(one.event_id) ?? '',
  ]
}
