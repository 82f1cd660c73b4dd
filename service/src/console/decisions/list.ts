import { noPartner } from '../../audit/entries.ts'
import { formatTimestamp } from '../../calendar/calendar.ts'
import { html, type Slot } from '../../http/html.ts'
import { listOperators } from '../operators/store.ts'
import { record } from '../page/record.ts'
import type { Answer, Screen, Visit } from '../page/screen.ts'
import { ownPartners } from '../partners.ts'
import { type ListedRequest, MOST_LISTED, pastRequests, waitingRequests } from '../requests/store.ts'
import { csvLink, type List, listFile, listTable, sortField } from '../views/list.ts'
import { part, tag, when } from '../views/parts.ts'
import { requestKinds } from './kinds.ts'
import { visiblePartners } from './read.ts'

/** The requests to a second person, as a table and as a file. */
export const requestListScreens: readonly Screen[] = [
  { method: 'GET', path: '/requests', role: 'support', section: 'requests', answer: show },
  { method: 'GET', path: '/requests.csv', role: 'support', section: 'requests', answer: download },
]

const STATES = ['waiting', 'done', 'refused', 'withdrawn', 'lapsed'] as const
type State = (typeof STATES)[number]

/** The state of a request: one that nobody decided in time has lapsed, also before that is written down. */
export function stateOf(
  { outcome, expires_at }: Pick<ListedRequest, 'outcome' | 'expires_at'>,
  now: number,
): State {
  return outcome ?? (expires_at > now ? 'waiting' : 'lapsed')
}

/** The same as a label. */
export function stateTag(row: Pick<ListedRequest, 'outcome' | 'expires_at'>, now: number): Slot {
  const state = stateOf(row, now)
  return tag(state, state === 'waiting' ? 'wait' : state === 'done' ? 'good' : 'plain')
}

/** The waiting requests, oldest first, and then the others, newest first, unless the address asks for another order. */
async function listOf(visit: Visit): Promise<List<ListedRequest> & { readonly isCut: boolean }> {
  const { database, real } = visit.context
  const now = real()
  const state = STATES.find(one => one === visit.query.get('state')) ?? 'all'
  const visible = await visiblePartners(visit)
  const partner = visible.find(one => one === visit.query.get('partner')) ?? ''
  const partners = partner === '' ? visible : [partner]
  const names = new Map((await ownPartners(visit)).map(one => [one.partnerId, one.name]))
  const operators = new Map((await listOperators(database)).map(one => [one.operatorId, one.name]))
  const waiting = state === 'all' || state === 'waiting' ? await waitingRequests(database, partners, now) : []
  const past = state === 'waiting' ? [] : await pastRequests(database, partners, now)
  const partnerOf = (row: ListedRequest) =>
    row.partner_id === noPartner ? 'all partners' : (names.get(row.partner_id) ?? '')
  const titleOf = ({ action }: ListedRequest) =>
    requestKinds.find(one => one.action === action)?.title ?? action
  const nameOf = (operator: string | null) => (operator === null ? '' : (operators.get(operator) ?? ''))
  return {
    path: '/requests',
    caption: 'Requests to a second person, times in UTC',
    empty: state === 'waiting' ? 'Nothing waits.' : 'No request of this kind.',
    filters: { state, partner },
    isCut: waiting.length === MOST_LISTED || past.length === MOST_LISTED,
    rows: [...waiting, ...past].filter(row => state === 'all' || stateOf(row, now) === state),
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
      {
        name: 'askedby',
        label: 'Asked by',
        value: row => nameOf(row.asked_by),
        cell: row => nameOf(row.asked_by) || '–',
      },
      {
        name: 'asked',
        label: 'Asked (UTC)',
        value: row => formatTimestamp(row.asked_at),
        cell: row => when(row.asked_at, 'UTC'),
      },
      { name: 'state', label: 'State', value: row => stateOf(row, now), cell: row => stateTag(row, now) },
      {
        name: 'decidedby',
        label: 'Decided by',
        value: row => nameOf(row.decided_by),
        cell: row => nameOf(row.decided_by) || '–',
      },
    ],
  }
}

async function show(visit: Visit): Promise<Answer> {
  const list = await listOf(visit)
  const { state = '', partner = '' } = list.filters
  const partners = await ownPartners(visit)
  const isForAll = visit.operator.partners === undefined
  await record(visit, { action: 'look at requests', result: 'shown' })
  return {
    title: 'Requests',
    body: html`<p class="lead">What one operator asked for and another has to confirm.</p>
<form method="get" action="/requests" class="row">
<p class="field"><label for="partner">Partner</label><select id="partner" name="partner"><option value="">all</option>${partners.map(one => option(one.partnerId, one.name, partner))}${isForAll && option(noPartner, 'No partner: catalogues', partner)}</select></p>
<p class="field"><label for="state">Show</label><select id="state" name="state">${['all', ...STATES].map(one => option(one, one, state))}</select></p>
${sortField(visit.query)}<button class="secondary">Show</button></form>
${part('Requests', await listTable(list, visit.query), csvLink(list, visit.query))}
${list.isCut && html`<p class="hint">The newest ${MOST_LISTED.toLocaleString('en-US')} are listed; the audit log has all.</p>`}`,
  }
}

function option(value: string, label: string, chosen: string): Slot {
  return html`<option value="${value}"${value === chosen ? html` selected` : ''}>${label}</option>`
}

async function download(visit: Visit): Promise<Answer> {
  const list = await listOf(visit)
  await record(visit, { action: 'export requests' })
  return listFile(list, visit.query, 'requests.csv')
}
