import { html } from '../../http/html.ts'
import { type Answer, onGet, type Screen, type Visit } from '../screen/screen.ts'
import { type List, listFile, listPart, sortField } from '../views/list.ts'
import { selectField, tag } from '../views/parts.ts'
import { disabledPartners } from './store.ts'

type Row = { readonly partnerId: string; readonly name: string; readonly isDisabled: boolean }

/** The operator's partners, as a table and as a file. */
export const partnerListScreens: readonly Screen[] = [
  onGet('/partners', 'viewer', show),
  onGet('/partners.csv', 'support', download),
]

const STATES = ['all', 'enabled', 'disabled'] as const

async function listOf(visit: Visit): Promise<List<Row>> {
  const state = STATES.find(one => one === visit.query.get('state')) ?? 'all'
  const name = (visit.query.get('name') ?? '').trim()
  const disabled = await disabledPartners(visit.context.database)
  return {
    path: '/partners',
    caption: 'Partners that you work for',
    empty:
      visit.partnerNames.size === 0
        ? 'There is no partner yet: `enrolment partner create` makes one.'
        : 'No partner fits.',
    filters: { state, name },
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

async function show(visit: Visit): Promise<Answer> {
  const list = await listOf(visit)
  const { state = '', name = '' } = list.filters
  return {
    title: 'Partners',
    body: html`<form method="get" action="/partners" class="row">
<p class="field"><label for="name">Name contains</label><input id="name" name="name" value="${name}" autocomplete="off"></p>
${selectField('state', 'State', STATES, state)}
${sortField(visit.query)}<button class="secondary">Show</button></form>
${listPart(visit, 'Who integrates', list)}`,
  }
}

async function download(visit: Visit): Promise<Answer> {
  return listFile(visit, await listOf(visit), { file: 'partners.csv', action: 'export partners' })
}
