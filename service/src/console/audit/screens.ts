import { openBlockKeys } from '../../audit/block-keys.ts'
import { verifyPartner } from '../../audit/blocks.ts'
import { noPartner } from '../../audit/entries.ts'
import { openReason } from '../../audit/reason.ts'
import { addDays, dateAt, formatTimestamp, type PlainDate, startOfDate } from '../../calendar/calendar.ts'
import { html } from '../../http/html.ts'
import type { Partner } from '../../partners/partner.ts'
import { isUuid } from '../../vault/uuid.ts'
import { isAskedDay } from '../asked-day.ts'
import { ownPartner } from '../partners.ts'
import { record } from '../screen/record.ts'
import { type Answer, ConsoleRefusal, onGet, onPost, type Screen, type Visit } from '../screen/screen.ts'
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
import { actionForm, counted, facts, part, resultTag, selectField, table, tag, when } from '../views/parts.ts'
import { erasedUsers, findEntries, type NamedEntry, signedUntil } from './store.ts'

/** Who did what, when and to whom, and whether the record is unaltered. */
export const auditScreens: readonly Screen[] = [
  onGet('/audit', 'viewer', list),
  onGet('/audit.csv', 'support', exportList),
  onPost('/audit/verify', 'viewer', verify),
]

/** The query in the list's address. */
type Filter = {
  readonly partner: Partner | undefined
  readonly partnerId: string
  readonly from: PlainDate
  readonly until: PlainDate
  readonly operatorsOnly: boolean
  /** The user whom the entries concern, if the address names one. */
  readonly serviceId: string | undefined
  /** The address names a user by something else: shown without this filter, the list would be taken for that user's. */
  readonly isUserUnclear: boolean
  readonly list: LongList
}

async function filterOf(visit: Visit): Promise<Filter> {
  const { query, operator, context } = visit
  const [first = noPartner] = visit.partnerNames.keys()
  // Only operators for all partners see entries that concern no partner, such as signing in.
  const wanted = query.get('partner') ?? first
  const isNobody = wanted === noPartner && operator.partners === undefined
  const partner = isNobody ? undefined : await ownPartner(visit, wanted)
  const today = dateAt(context.real(), 'UTC')
  const day = (name: string, otherwise: PlainDate) => {
    const text = query.get(name) ?? ''
    return isAskedDay(text) ? text : otherwise
  }
  const partnerId = partner?.partnerId ?? noPartner
  const [from, until] = [day('from', addDays(today, -30)), day('until', today)]
  const who = query.get('who') === 'all' ? 'all' : 'operators'
  const serviceId = idIn(query, 'user')
  return {
    partner,
    partnerId,
    from,
    until,
    operatorsOnly: who === 'operators',
    serviceId,
    isUserUnclear: serviceId === undefined && (query.get('user') ?? '').trim() !== '',
    list: {
      path: '/audit',
      filters: { partner: partnerId, from, until, who, ...(serviceId && { user: serviceId }) },
      column: 'at',
      isDown: isDownIn(query, 'at', true),
    },
  }
}

/** The id in an address; `undefined` without one, or for a damaged one. */
function idIn(query: URLSearchParams, name: string): string | undefined {
  const id = query.get(name)?.trim().toLowerCase() ?? ''
  return isUuid(id) ? id : undefined
}

async function entriesAfter(
  visit: Visit,
  filter: Filter,
  after: string | undefined,
): Promise<Slice<NamedEntry, string>> {
  const entries = await findEntries(visit.context.database, {
    partnerId: filter.partnerId,
    from: startOfDate(filter.from, 'UTC'),
    until: startOfDate(addDays(filter.until, 1), 'UTC'),
    operatorsOnly: filter.operatorsOnly,
    serviceId: filter.serviceId,
    isNewestFirst: filter.list.isDown,
    after,
    limit: ROWS_AT_ONCE + 1,
  })
  return sliceOf(entries, entry => entry.entry_id)
}

async function list(visit: Visit): Promise<Answer> {
  const filter = await filterOf(visit)
  const after = idIn(visit.query, 'after')
  const { isUserUnclear } = filter
  const { rows, next } = isUserUnclear
    ? { rows: [], next: undefined }
    : await entriesAfter(visit, filter, after)
  const sees = visit.isSupport
  const blocks = await signedUntil(visit.context.database, filter.partnerId)
  await record(visit, { action: 'look at audit', result: 'shown', partner: filter.partner })
  const { list } = filter
  const partners = [
    ...visit.partnerNames,
    ...(visit.operator.partners === undefined
      ? [[noPartner, 'No partner: sign-ins, the service'] as const]
      : []),
  ]
  return {
    title: 'Audit',
    status: isUserUnclear ? 422 : 200,
    body: html`${isUserUnclear && html`<section class="notice bad" role="alert"><h2>Which user?</h2><p>${WHICH_USER}</p></section>`}
<form method="get" action="/audit" class="row">
${selectField('partner', 'Partner', partners, filter.partnerId)}
<p class="field"><label for="from">From</label><input id="from" name="from" type="date" value="${filter.from}"></p>
<p class="field"><label for="until">Until</label><input id="until" name="until" type="date" value="${filter.until}"></p>
${selectField('who', 'Who', WHO, filter.operatorsOnly ? 'operators' : 'all')}
<p class="field"><label for="user">User (Service ID)</label><input id="user" name="user" size="38" value="${filter.serviceId ?? ''}" autocomplete="off" spellcheck="false"></p>
${sortField(visit.query)}<button class="secondary">Show</button></form>
${part(
  'What was done',
  html`${table({
    caption: 'Entries of the audit log, times in UTC',
    columns: [longHeading(list, 'When (UTC)'), 'Who', 'What', 'To whom', ...(sees ? ['Because'] : [])],
    rows: rows.map(entry => [
      when(entry.at, 'UTC'),
      html`${whoOf(entry)}<br><span class="hint">${entry.actor_kind}</span>`,
      html`${entry.action}${resultTag(entry.result)}${entry.times > 1 && ` × ${entry.times}`}`,
      entry.service_id === null
        ? '–'
        : html`<a href="/users/${entry.service_id}"><code>${entry.service_id}</code></a>`,
      ...(sees ? [reasonOf(filter, entry)] : []),
    ]),
    empty: isUserUnclear ? 'Nothing was looked for.' : 'Nothing in this time.',
  })}
${longPages(list, { isFirst: after === undefined, next, label: list.isDown ? 'Older entries' : 'Newer entries' })}`,
  sees && !isUserUnclear && html`<a href="/audit.csv?${queryOf(list)}">CSV</a>`,
)}
${part(
  'The record itself',
  html`${facts(blocks.map(block => [block.source === 'history' ? 'Changes of users' : 'This log', html`signed in ${counted(block.number, 'block')} until ${when(block.until_at, 'UTC')}`]))}
${blocks.length === 0 && html`<p class="hint">Nothing is signed yet: blocks are made some minutes after what they hold.</p>`}
${actionForm(visit, { action: `/audit/verify?partner=${filter.partnerId}`, button: 'Compare the record with its signatures' })}`,
)}`,
  }
}

async function exportList(visit: Visit): Promise<Answer> {
  const filter = await filterOf(visit)
  if (filter.isUserUnclear) throw new ConsoleRefusal(422, 'Which user?', WHICH_USER)
  const file = `audit-${filter.from}-${filter.until}.csv`
  // It contains the entry about itself.
  return longFile<string>(
    visit,
    { file, action: 'export audit', partner: filter.partner },
    {
      head: [
        'at',
        'actorkind',
        'actor',
        'operator',
        'action',
        'result',
        'times',
        'serviceid',
        'requestid',
        'reason',
      ],
      after: idIn(visit.query, 'after'),
      read: async after => {
        const { rows, next } = await entriesAfter(visit, filter, after)
        return { rows: rows.map(entry => cellsOf(entry, reasonOf(filter, entry))), next }
      },
    },
  )
}

function cellsOf(entry: NamedEntry, reason: string): (string | number)[] {
  return [
    formatTimestamp(entry.at),
    entry.actor_kind,
    entry.actor,
    entry.operator ?? '',
    entry.action,
    entry.result,
    entry.times,
    entry.service_id ?? '',
    entry.request_id ?? '',
    reason,
  ]
}

async function verify(visit: Visit): Promise<Answer> {
  const { database, keyring } = visit.context
  const filter = await filterOf(visit)
  const { rows, findings } = await verifyPartner(database, openBlockKeys(database, keyring), {
    partnerId: filter.partnerId,
    erased: await erasedUsers(database, filter.partnerId),
  })
  const result = findings.length === 0 ? 'whole' : 'altered'
  await record(visit, { action: 'verify audit', result, partner: filter.partner })
  return {
    title: findings.length === 0 ? 'The record is whole' : 'The record was altered',
    body:
      findings.length === 0
        ? html`<p class="lead">${rows} rows are as they were signed.</p><p><a href="/audit?partner=${filter.partnerId}">Back to the audit log</a></p>`
        : table({
            caption: 'What does not fit its signature',
            columns: ['Where', 'Row', 'Fault'],
            rows: findings.map(({ source, name, fault }) => [
              source,
              html`<code>${name}</code>`,
              tag(fault, 'bad'),
            ]),
            empty: '',
          }),
  }
}

const WHICH_USER =
  'The field takes a service ID. Find the user by the field at the top, and press “All entries” on the user’s page.'

const WHO = [
  ['operators', 'Operators and commands'],
  ['all', 'Everybody'],
] as const

function whoOf(entry: NamedEntry): string {
  return entry.operator ?? (entry.actor || 'nobody')
}

function reasonOf({ partner }: Filter, entry: NamedEntry): string {
  return partner ? openReason(partner, entry.service_id ?? undefined, entry.sealed_reason) : ''
}
