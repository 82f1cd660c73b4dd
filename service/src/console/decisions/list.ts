import { noPartner } from '../../audit/entries.ts'
import { html, type Slot } from '../../http/html.ts'
import { listOperators } from '../operators/store.ts'
import { ownPartners } from '../partners.ts'
import { SECOND_PERSON_ACTIONS } from '../requests/second-person.ts'
import {
  type ListedRequest,
  listRequests,
  MOST_LISTED,
  REQUEST_STATES,
  type RequestOrder,
  type RequestRow,
  type RequestState,
} from '../requests/store.ts'
import { record } from '../screen/record.ts'
import type { Answer, Screen, Visit } from '../screen/screen.ts'
import {
  csvLink,
  dated,
  type List,
  listFileOf,
  orderOf,
  pageNumberOf,
  pageTable,
  ROWS_A_PAGE,
  sortField,
} from '../views/list.ts'
import { part, selectField, tag } from '../views/parts.ts'
import { requestKinds } from './kinds.ts'
import { visiblePartners } from './read.ts'

/** The requests to a second person, as a table and as a file. */
export const requestListScreens: readonly Screen[] = [
  { method: 'GET', path: '/requests', role: 'support', answer: show },
  { method: 'GET', path: '/requests.csv', role: 'support', answer: download },
]

/** The state of a request now. */
export function stateOf(
  { outcome, expires_at }: Pick<RequestRow, 'outcome' | 'expires_at'>,
  now: number,
): RequestState {
  return outcome ?? (expires_at > now ? 'waiting' : 'lapsed')
}

/** A state as a label. */
export function stateTag(state: RequestState): Slot {
  return tag(state, state === 'waiting' ? 'wait' : state === 'done' ? 'good' : 'plain')
}

type RequestList = {
  readonly list: List<ListedRequest>
  /** Some rows of it, from one on. */
  readonly rowsFrom: (skip: number, limit: number) => ReturnType<typeof listRequests>
}

/** The waiting requests, oldest first, and then the others, newest first, unless the address asks for another order. */
async function listOf(visit: Visit): Promise<RequestList> {
  const { database, real } = visit.context
  const now = real()
  const state = REQUEST_STATES.find(one => one === visit.query.get('state'))
  const visible = await visiblePartners(visit)
  const partner = visible.find(one => one === visit.query.get('partner')) ?? ''
  const partners = partner === '' ? visible : [partner]
  const names = new Map((await ownPartners(visit)).map(one => [one.partnerId, one.name]))
  const operators = new Map((await listOperators(database)).map(one => [one.operatorId, one.name]))
  const partnerOf = (partnerId: string) =>
    partnerId === noPartner ? 'all partners' : (names.get(partnerId) ?? '')
  const titleOf = (action: string) => requestKinds.find(one => one.action === action)?.title ?? action
  const nameOf = (operator: string | null) => (operator === null ? '' : (operators.get(operator) ?? ''))
  const { name, isDown } = orderOf(visit.query)
  const orders: Readonly<Record<string, RequestOrder>> = {
    what: { by: 'action', isDown, ids: inOrder(SECOND_PERSON_ACTIONS, titleOf) },
    partner: { by: 'partner_id', isDown, ids: inOrder(partners, partnerOf) },
    askedby: { by: 'asked_by', isDown, ids: inOrder([...operators.keys()], nameOf) },
    asked: { by: 'asked_at', isDown },
    state: { by: 'state', isDown },
    decidedby: { by: 'decided_by', isDown, ids: inOrder([...operators.keys()], nameOf) },
  }
  const order = orders[name ?? '']
  const list: List<ListedRequest> = {
    path: '/requests',
    caption: 'Requests to a second person, times in UTC',
    empty: state === 'waiting' ? 'Nothing waits.' : 'No request of this kind.',
    filters: { state: state ?? 'all', partner },
    rows: [],
    columns: [
      {
        name: 'what',
        label: 'What',
        value: row => titleOf(row.action),
        cell: row => html`<a href="/requests/${row.request_id}">${titleOf(row.action)}</a>`,
      },
      {
        name: 'partner',
        label: 'Partner',
        value: row => partnerOf(row.partner_id),
        cell: row => html`<span class="long">${partnerOf(row.partner_id)}</span>`,
      },
      { name: 'askedby', label: 'Asked by', value: row => nameOf(row.asked_by) },
      dated('asked', 'Asked (UTC)', row => row.asked_at, 'UTC'),
      { name: 'state', label: 'State', value: row => row.state, cell: row => stateTag(row.state) },
      { name: 'decidedby', label: 'Decided by', value: row => nameOf(row.decided_by) },
    ],
  }
  return {
    list,
    rowsFrom: (skip, limit) => listRequests(database, { partners, at: now, state, order, skip, limit }),
  }
}

/** Ids, sorted by the names that people read in their place. */
function inOrder(ids: readonly string[], name: (id: string) => string): string[] {
  const keys = new Map(ids.map(id => [id, name(id).toLowerCase()]))
  return [...ids].sort((a, b) => ((keys.get(a) ?? '') < (keys.get(b) ?? '') ? -1 : 1))
}

async function show(visit: Visit): Promise<Answer> {
  const { list, rowsFrom } = await listOf(visit)
  const { state = '', partner = '' } = list.filters
  const { page, rows, total, longest } = await readPage(pageNumberOf(visit.query), rowsFrom)
  const choices = [
    ['', 'all'] as const,
    ...(await ownPartners(visit)).map(one => [one.partnerId, one.name] as const),
    ...(visit.operator.partners === undefined ? [[noPartner, 'No partner: catalogues'] as const] : []),
  ]
  await record(visit, { action: 'look at requests', result: 'shown' })
  return {
    title: 'Requests',
    body: html`<p class="lead">What one operator asked for and another has to confirm.</p>
<form method="get" action="/requests" class="row">
${selectField('partner', 'Partner', choices, partner)}
${selectField('state', 'Show', ['all', ...REQUEST_STATES], state)}
${sortField(visit.query)}<button class="secondary">Show</button></form>
${part('Requests', await pageTable({ ...list, rows }, visit.query, { page, total }), csvLink(list, visit.query))}
${longest >= MOST_LISTED && html`<p class="hint">The newest ${MOST_LISTED.toLocaleString('en-US')} are listed; the audit log has all.</p>`}`,
  }
}

/** A page of the list; the first one instead of a page beyond the last. */
async function readPage(
  page: number,
  rowsFrom: RequestList['rowsFrom'],
): Promise<Awaited<ReturnType<typeof listRequests>> & { readonly page: number }> {
  const read = await rowsFrom((page - 1) * ROWS_A_PAGE, ROWS_A_PAGE)
  return page > 1 && read.rows.length === 0 ? readPage(1, rowsFrom) : { ...read, page }
}

async function download(visit: Visit): Promise<Answer> {
  const { list, rowsFrom } = await listOf(visit)
  await record(visit, { action: 'export requests' })
  // They are in the order of the address already.
  const readRows = async () => (await rowsFrom(0, 2 * MOST_LISTED)).rows
  return listFileOf(list, readRows, 'requests.csv')
}
