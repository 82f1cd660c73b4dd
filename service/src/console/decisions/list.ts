import { html, type Slot } from '../../http/html.ts'
import { operatorNames } from '../../operators/store.ts'
import {
  type ListedRequest,
  listRequests,
  MOST_LISTED,
  REQUEST_STATES,
  type RequestState,
} from '../requests/store.ts'
import { record } from '../screen/record.ts'
import { type Answer, onGet, type Screen, type Visit } from '../screen/screen.ts'
import { dated, type List, listFile, listPart, sortField } from '../views/list.ts'
import { selectField, tag } from '../views/parts.ts'
import { requestKinds } from './kinds.ts'

/** The requests to a second person, as a table and as a file. */
export const requestListScreens: readonly Screen[] = [
  onGet('/requests', 'support', show),
  onGet('/requests.csv', 'support', download),
]

/** A state as a label. */
export function stateTag(state: RequestState): Slot {
  return tag(state, state === 'waiting' ? 'wait' : state === 'done' ? 'good' : 'plain')
}

/** The waiting requests, oldest first, and then the others, newest first. */
async function listOf(visit: Visit): Promise<List<ListedRequest>> {
  const { database, real } = visit.context
  const state = REQUEST_STATES.find(one => one === visit.query.get('state'))
  const visible = [...visit.partnerNames.keys()]
  const partner = visible.find(one => one === visit.query.get('partner')) ?? ''
  const rows = await listRequests(database, partner === '' ? visible : [partner], real())
  const operators = await operatorNames(database)
  const partnerOf = ({ partner_id }: ListedRequest) => visit.partnerNames.get(partner_id) ?? ''
  const titleOf = ({ action }: ListedRequest) =>
    requestKinds.find(one => one.action === action)?.title ?? action
  return {
    path: '/requests',
    caption: 'Requests to a second person, times in UTC',
    empty: state === 'waiting' ? 'Nothing waits.' : 'No request of this kind.',
    filters: { state: state ?? 'all', partner },
    rows: rows.filter(row => state === undefined || row.state === state),
    columns: [
      {
        name: 'what',
        label: 'What',
        value: titleOf,
        cell: row => html`<a href="/requests/${row.request_id}">${titleOf(row)}</a>`,
      },
      {
        name: 'partner',
        label: 'Partner',
        value: partnerOf,
        cell: row => html`<span class="long">${partnerOf(row)}</span>`,
      },
      { name: 'askedby', label: 'Asked by', value: row => operators.get(row.asked_by) ?? '' },
      dated('asked', 'Asked (UTC)', row => row.asked_at, 'UTC'),
      { name: 'state', label: 'State', value: row => row.state, cell: row => stateTag(row.state) },
      { name: 'decidedby', label: 'Decided by', value: row => operators.get(row.decided_by ?? '') ?? '' },
    ],
  }
}

async function show(visit: Visit): Promise<Answer> {
  const list = await listOf(visit)
  const { state = '', partner = '' } = list.filters
  const choices = [['', 'all'] as const, ...visit.partnerNames]
  await record(visit, { action: 'look at requests', result: 'shown' })
  return {
    title: 'Requests',
    body: html`<p class="lead">What one operator asked for and another has to confirm.</p>
<form method="get" action="/requests" class="row">
${selectField('partner', 'Partner', choices, partner)}
${selectField('state', 'Show', ['all', ...REQUEST_STATES], state)}
${sortField(visit.query)}<button class="secondary">Show</button></form>
${listPart(visit, 'Requests', list)}
${(list.rows[0]?.longest ?? 0) >= MOST_LISTED && html`<p class="hint">The newest ${MOST_LISTED.toLocaleString('en-US')} are listed; the audit log has all.</p>`}`,
  }
}

async function download(visit: Visit): Promise<Answer> {
  return listFile(visit, await listOf(visit), { file: 'requests.csv', action: 'export requests' })
}
