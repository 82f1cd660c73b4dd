import { html } from '../../http/html.ts'
import type { OperatorVisit, Screen } from '../screen/screen.ts'
import { listScreens, type OpenList } from '../views/declared-list.ts'
import { dated } from '../views/list.ts'
import { countOf, healthInWords, rankOf, STATES, stateOf, stateTag } from './health.ts'
import { type EndpointLine, findEndpointLines } from './store.ts'

/** Endpoints by their health; failing ones come first unless the address asks for another order. */
export const webhookListScreens: readonly Screen[] = listScreens({
  path: '/webhooks',
  role: 'viewer',
  exported: 'export webhooks',
  open,
})

async function open(visit: OperatorVisit): Promise<OpenList<EndpointLine>> {
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
    ],
  }
}
