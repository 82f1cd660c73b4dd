import { html, type Slot } from '../../http/html.ts'
import { operatorNames } from '../../operators/store.ts'
import { titleOfRequest } from '../acts/all.ts'
import { seenPartners } from '../partners.ts'
import {
  type ListedRequest,
  listRequests,
  MOST_LISTED,
  REQUEST_STATES,
  type RequestState,
} from '../requests/store.ts'
import type { OperatorVisit, Screen } from '../screen/screen.ts'
import { dated, listScreens, type OpenList } from '../views/list.ts'
import { tag } from '../views/parts.ts'

/** The requests to a second person: those that wait, oldest first, and then the others, newest first. */
export const requestListScreens: readonly Screen[] = listScreens({
  path: '/requests',
  right: 'support',
  exported: 'export requests',
  open,
})

/** A state as a label. */
export function stateTag(state: RequestState): Slot {
  return tag(state, state === 'waiting' ? 'wait' : state === 'done' ? 'good' : 'plain')
}

async function open(visit: OperatorVisit): Promise<OpenList<ListedRequest>> {
  const { database, real } = visit.context
  const state = REQUEST_STATES.find(one => one === visit.query.get('state'))
  const visible = seenPartners(visit)
  const partner = visible.find(one => one === visit.query.get('partner')) ?? ''
  const rows = await listRequests(database, partner === '' ? visible : [partner], real())
  const operators = await operatorNames(database)
  const partnerOf = ({ partner_id }: ListedRequest) => visit.partnerNames.get(partner_id) ?? 'All partners'
  return {
    title: 'Requests',
    heading: 'Requests',
    file: 'requests.csv',
    looked: 'look at requests',
    around: () => ({
      above: html`<p class="lead">What one operator asked for and another has to confirm.</p>`,
      below:
        (rows[0]?.longest ?? 0) >= MOST_LISTED &&
        html`<p class="hint">The newest ${MOST_LISTED.toLocaleString('en-US')} are listed; the audit log has all.</p>`,
    }),
    caption: 'Requests to a second person',
    empty: state === 'waiting' ? 'Nothing waits.' : 'No request of this kind.',
    filters: [
      { name: 'partner', label: 'Partner', value: partner, options: [['', 'all'], ...visit.partnerNames] },
      { name: 'state', label: 'Show', value: state ?? 'all', options: ['all', ...REQUEST_STATES] },
    ],
    rows: rows.filter(row => state === undefined || row.state === state),
    columns: [
      {
        name: 'what',
        label: 'What',
        value: one => titleOfRequest(one.action),
        cell: row => html`<a href="/requests/${row.request_id}">${titleOfRequest(row.action)}</a>`,
      },
      {
        name: 'partner',
        label: 'Partner',
        value: partnerOf,
        cell: row => html`<span class="long">${partnerOf(row)}</span>`,
      },
      { name: 'askedby', label: 'Asked by', value: row => operators.get(row.asked_by) ?? '' },
      dated(
        'asked',
        'Asked',
        row => row.asked_at,
        row => visit.zoneOf(row.partner_id),
      ),
      { name: 'state', label: 'State', value: row => row.state, cell: row => stateTag(row.state) },
      { name: 'decidedby', label: 'Decided by', value: row => operators.get(row.decided_by ?? '') ?? '' },
    ],
  }
}
