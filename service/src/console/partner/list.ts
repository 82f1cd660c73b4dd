import { html } from '../../http/html.ts'
import type { OperatorVisit, Screen } from '../screen/screen.ts'
import { listScreens, type OpenList } from '../views/declared-list.ts'
import { tag } from '../views/parts.ts'
import { disabledPartners } from './store.ts'

type Row = { readonly partnerId: string; readonly name: string; readonly isDisabled: boolean }

/** The operator's partners. */
export const partnerListScreens: readonly Screen[] = listScreens({
  path: '/partners',
  role: 'viewer',
  exported: 'export partners',
  open,
})

const STATES = ['all', 'enabled', 'disabled'] as const

async function open(visit: OperatorVisit): Promise<OpenList<Row>> {
  const state = STATES.find(one => one === visit.query.get('state')) ?? 'all'
  const name = (visit.query.get('name') ?? '').trim()
  const disabled = await disabledPartners(visit.context.database)
  return {
    title: 'Partners',
    heading: 'Who integrates',
    file: 'partners.csv',
    caption: 'Partners that you work for',
    empty:
      visit.partnerNames.size === 0
        ? 'There is no partner yet: `enrolment partner create` makes one.'
        : 'No partner fits.',
    filters: [
      { name: 'name', label: 'Name contains', value: name, type: 'text' },
      { name: 'state', label: 'State', value: state, options: STATES },
    ],
    rows: [...visit.partnerNames]
      .map(([partnerId, name]) => ({ partnerId, name, isDisabled: disabled.has(partnerId) }))
      .filter(one => state === 'all' || one.isDisabled === (state === 'disabled'))
      .filter(one => one.name.toLowerCase().includes(name.toLowerCase())),
    columns: [
      {
        name: 'partner',
        label: 'Partner',
        value: row => row.name,
        cell: row => html`<a href="/partners/${row.partnerId}">${row.name}</a>`,
      },
      {
        name: 'state',
        label: 'State',
        value: row => (row.isDisabled ? 'disabled' : 'enabled'),
        cell: row => (row.isDisabled ? tag('disabled', 'bad') : tag('enabled', 'good')),
      },
      {
        name: 'partnerid',
        label: 'Id',
        value: row => row.partnerId,
        cell: row => html`<code>${row.partnerId}</code>`,
      },
    ],
  }
}
