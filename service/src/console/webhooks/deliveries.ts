import { formatTimestamp } from '../../calendar/calendar.ts'
import { csvLine } from '../../csv.ts'
import { html } from '../../http/html.ts'
import { inSlices } from '../background/give-way.ts'
import { hasRole } from '../operators/operator.ts'
import { type Position, positionOf, positionText } from '../position.ts'
import { record } from '../screen/record.ts'
import type { Answer, Screen, Visit } from '../screen/screen.ts'
import { sortField } from '../views/list.ts'
import { isDownIn, type LongList, longHeading, longPages, queryOf } from '../views/long-list.ts'
import { part, selectField, table, when } from '../views/parts.ts'
import { answersOf, lastAnswers, type NamedEndpoint, requiredEndpoint } from './endpoint.ts'
import { findOpenLines, type OpenLine, positionOfLine } from './store.ts'

/** What waits at an endpoint or was given up there, page by page and as a file. */
export const deliveryScreens: readonly Screen[] = [
  { method: 'GET', path: '/webhooks/:endpointid/deliveries', role: 'viewer', answer: show },
  { method: 'GET', path: '/webhooks/:endpointid/deliveries.csv', role: 'support', answer: download },
]

const LINES_A_PAGE = 100
const LINES_A_SLICE = 100
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

function linesOf({ context }: Visit, filter: Filter, after: Position | undefined, limit: number) {
  const { partner, line, state, list } = filter
  return findOpenLines(context.database, {
    partnerId: partner.partnerId,
    endpointId: line.endpoint_id,
    state,
    isDown: list.isDown,
    after,
    limit,
  })
}

async function show(visit: Visit): Promise<Answer> {
  const filter = await filterOf(visit)
  const { partner, line, state, list } = filter
  const after = positionOf(visit.query.get('after'))
  const found = await linesOf(visit, filter, after, LINES_A_PAGE + 1)
  const shown = found.slice(0, LINES_A_PAGE)
  const last = shown.at(-1)
  const sees = hasRole(visit.operator, 'support')
  const answers = sees
    ? await answersOf(
        visit,
        filter,
        shown.map(one => one.event_id),
      )
    : new Map<string, string>()
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
    rows: await inSlices(shown, one => [
      html`<a href="/users/${one.service_id}#event-${one.event_id}">${one.eventname}</a>`,
      when(one.created_at, timezone),
      when(one.at, timezone),
      one.attempts,
      ...(sees ? [html`<code>${answers.get(one.event_id) ?? '–'}</code>`] : []),
    ]),
    empty: state === 'waiting' ? 'Nothing waits.' : 'Nothing was given up.',
  })}
${longPages(list, {
  isFirst: after === undefined,
  next: found.length > LINES_A_PAGE && last ? positionText(positionOfLine(last)) : undefined,
})}`,
  sees && html`<a href="${list.path}.csv?${queryOf(list)}">CSV</a>`,
)}`,
  }
}

async function download(visit: Visit): Promise<Answer> {
  const filter = await filterOf(visit)
  await record(visit, { action: 'export deliveries', partner: filter.partner })
  return {
    file: filter.state === 'waiting' ? 'waiting.csv' : 'given-up.csv',
    type: 'text/csv; charset=utf-8',
    content: fileLines(visit, filter),
  }
}

/** The file, slice by slice, in the order of the screen. */
async function* fileLines(visit: Visit, filter: Filter): AsyncGenerator<string> {
  const at = filter.state === 'waiting' ? 'nextattempt' : 'givenup'
  yield `${csvLine(['event', 'eventid', 'serviceid', 'raised', at, 'attempts', 'answeredlast'])}\r\n`
  let after: Position | undefined
  for (;;) {
    const position: Position | undefined = after
    const lines = await visit.context.slow.inTurn(() => linesOf(visit, filter, position, LINES_A_SLICE))
    const ids = lines.map(one => one.event_id)
    const answers = await visit.context.slow.inTurn(() => lastAnswers(visit, filter, ids))
    const written = await inSlices(lines, one => csvLine(cellsOf(one, answers)))
    if (written.length > 0) yield `${written.join('\r\n')}\r\n`
    const last = lines.at(-1)
    if (lines.length < LINES_A_SLICE || !last) return
    after = positionOfLine(last)
  }
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
