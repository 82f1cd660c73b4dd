import { openBlockKeys } from '../../audit/block-keys.ts'
import { verifyPartner } from '../../audit/blocks.ts'
import { noPartner } from '../../audit/entries.ts'
import { openReason } from '../../audit/reason.ts'
import { addDays, dateAt, type PlainDate, startOfDate, type Zone } from '../../calendar/calendar.ts'
import { html, type Slot } from '../../http/html.ts'
import { isUuid } from '../../vault/uuid.ts'
import { ownPartner } from '../partners.ts'
import { allPartners, type Concerned } from '../requests/request.ts'
import { record } from '../screen/record.ts'
import {
  type Answer,
  ConsoleRefusal,
  isAskedDay,
  type OperatorVisit,
  onPost,
  type Screen,
} from '../screen/screen.ts'
import { type Column, dated, listScreens, type OpenList, pageOf, ROWS_AT_ONCE } from '../views/list.ts'
import {
  actionForm,
  counted,
  deedWords,
  facts,
  resultTag,
  section,
  table,
  tag,
  when,
} from '../views/parts.ts'
import { findEntries, type NamedEntry, signedUntil } from './store.ts'

/** Who did what, when and to whom, and whether the record is unaltered. */
export const auditScreens: readonly Screen[] = [
  // The file contains the entry about itself.
  ...listScreens({ path: '/audit', right: 'look', exported: 'export audit', open }),
  onPost('/audit/verify', 'look', verify),
]

const WHO = [
  ['operators', 'Operators and commands'],
  ['all', 'Everybody'],
] as const

async function open(visit: OperatorVisit): Promise<OpenList<NamedEntry>> {
  const { query, context } = visit
  const partner = await concerned(visit)
  const { partnerId, timezone: zone } = partner
  const today = dateAt(context.real(), zone)
  const from = dayIn(query, 'from', addDays(today, -30))
  const until = dayIn(query, 'until', today)
  const who = query.get('who') === 'all' ? 'all' : 'operators'
  const serviceId = userIn(query)
  return {
    title: 'Audit',
    heading: 'What was done',
    caption: `Entries of the audit log, times of ${zone}`,
    empty: 'Nothing in this time.',
    file: `audit-${from}-${until}.csv`,
    looked: 'look at audit',
    partner,
    filters: [
      { name: 'partner', label: 'Partner', value: partnerId, options: partnersOf(visit) },
      { name: 'from', label: 'From', value: from, type: 'date' },
      { name: 'until', label: 'Until', value: until, type: 'date' },
      { name: 'who', label: 'Who', value: who, options: WHO },
      { name: 'user', label: 'User (Service ID)', value: serviceId ?? '', type: 'text', size: 38 },
    ],
    columns: columnsFor(visit, partner),
    rows: {
      sortedBy: 'at',
      isDownFirst: true,
      nextLabel: (_, isDown) => (isDown ? 'Older entries' : 'Newer entries'),
      async read(after = '', isDown) {
        const entries = await findEntries(context.database, {
          partnerId,
          from: startOfDate(from, zone),
          until: startOfDate(addDays(until, 1), zone),
          operatorsOnly: who === 'operators',
          serviceId,
          isNewestFirst: isDown,
          after: isUuid(after) ? after : undefined,
          limit: ROWS_AT_ONCE + 1,
        })
        return pageOf(entries, entry => entry.entry_id)
      },
    },
    around: async () => ({ below: await recordPart(visit, partnerId, zone) }),
  }
}

async function recordPart(visit: OperatorVisit, partnerId: string, zone: Zone): Promise<Slot> {
  const blocks = await signedUntil(visit.context.database, partnerId)
  return section(
    'The record itself',
    html`${facts(
      blocks.map(block => [
        block.source === 'history' ? 'Changes of users' : 'This log',
        html`signed in ${counted(block.number, 'block')} until ${when(block.until_at, zone)}`,
      ]),
    )}
${
  blocks.length === 0 &&
  html`<p class="hint">Nothing is signed yet: blocks are made some minutes after what they hold.</p>`
}
${actionForm(visit, {
  action: `/audit/verify?partner=${partnerId}`,
  button: 'Compare the record with its signatures',
})}`,
  )
}

function columnsFor({ may }: OperatorVisit, partner: Concerned): readonly Column<NamedEntry>[] {
  const reasonOf = ({ service_id, sealed_reason }: NamedEntry) =>
    openReason(partner, service_id ?? undefined, sealed_reason)
  const ofFile = (name: string, value: (entry: NamedEntry) => string | number) =>
    ({ name, label: name, value, isOfFile: true }) as const
  return [
    dated('at', 'When', entry => entry.at, partner.timezone),
    {
      name: 'who',
      label: 'Who',
      cell: ({ operator, actor, actor_kind }) => {
        const name = operator ?? (actor === '' ? 'nobody' : html`<code>${actor}</code>`)
        return html`${name}<br><span class="hint">${actor_kind}</span>`
      },
    },
    ofFile('actorkind', entry => entry.actor_kind),
    ofFile('actor', entry => entry.actor),
    ofFile('operator', entry => entry.operator ?? ''),
    {
      name: 'what',
      label: 'What',
      cell: ({ action, result, times }) =>
        html`${deedWords(action)}${resultTag(result)}${times > 1 && ` × ${times}`}`,
    },
    ofFile('action', entry => entry.action),
    ofFile('result', entry => entry.result),
    ofFile('times', entry => entry.times),
    {
      name: 'serviceid',
      label: 'To whom',
      value: entry => entry.service_id ?? '',
      cell: ({ service_id }) =>
        service_id === null ? '–' : html`<a href="/users/${service_id}"><code>${service_id}</code></a>`,
    },
    ofFile('requestid', entry => entry.request_id ?? ''),
    ...(may('support') ? [{ name: 'reason', label: 'Because', value: reasonOf, cell: reasonOf }] : []),
  ]
}

/** Only operators for all partners see entries that concern no partner, such as signing in. */
function partnersOf({
  partnerNames,
  operator,
}: OperatorVisit): readonly (readonly [id: string, name: string])[] {
  const nobody = [[noPartner, 'No partner: sign-ins, the service'] as const]
  return [...partnerNames, ...(operator.partners === undefined ? nobody : [])]
}

/** The partner of the address, or all for the entries that concern none. */
async function concerned(visit: OperatorVisit): Promise<Concerned> {
  const [first = noPartner] = visit.partnerNames.keys()
  const wanted = visit.query.get('partner') ?? first
  const isNone = wanted === noPartner && visit.operator.partners === undefined
  return isNone ? allPartners(visit) : ownPartner(visit, wanted)
}

function dayIn(query: URLSearchParams, name: string, otherwise: PlainDate): PlainDate {
  const text = query.get(name) ?? ''
  return isAskedDay(text) ? text : otherwise
}

/**
 * The user whom the address names. Throws a refusal for anything else than an id: a list without this filter would be taken
 * for that user's.
 */
function userIn(query: URLSearchParams): string | undefined {
  const id = (query.get('user') ?? '').trim().toLowerCase()
  if (id === '') return undefined
  if (isUuid(id)) return id
  throw new ConsoleRefusal(
    422,
    'Which user?',
    'The field takes a service ID. Find the user by the field at the top, and press “All entries” on the user’s page.',
  )
}

async function verify(visit: OperatorVisit): Promise<Answer> {
  const { database, keyring } = visit.context
  const partner = await concerned(visit)
  const { partnerId } = partner
  const { rows, findings } = await verifyPartner(database, openBlockKeys(database, keyring), partnerId)
  const isWhole = findings.length === 0
  await record(visit, { action: 'verify audit', result: isWhole ? 'whole' : 'altered', partner })
  return {
    title: isWhole ? 'The record is whole' : 'The record was altered',
    body: isWhole
      ? html`<p class="lead">${rows} rows are as they were signed.</p><p>
<a href="/audit?partner=${partnerId}">Back to the audit log</a></p>`
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
