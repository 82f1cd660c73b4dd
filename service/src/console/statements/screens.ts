import type { Month } from '../../calendar/month.ts'
import { html, type Slot } from '../../http/html.ts'
import type { Partner } from '../../partners/partner.ts'
import { deskCsvOf } from '../../statements/csv-file.ts'
import { type Months, monthsOf } from '../../statements/months.ts'
import { everyPage, FIRST_PLACE, hasTierColumn, readLines } from '../../statements/pages.ts'
import { dollars, type NameTotals, openSummary, type Summary } from '../../statements/summary.ts'
import { type LineOfUser, linesOfUser } from '../../statements/user-lines.ts'
import { ownPartner } from '../partners.ts'
import { record } from '../screen/record.ts'
import { type Answer, notHere, type OperatorVisit, onGet, type Screen } from '../screen/screen.ts'
import { openUser } from '../user-data/living-user.ts'
import { type Column, CSV, listScreens, type OpenList } from '../views/list.ts'
import { facts, tag, when } from '../views/parts.ts'

/** What a month of a partner comes to, and its lines as a file. */
export const statementScreens: readonly Screen[] = [
  ...listScreens({ path: '/statements', right: 'look', exported: 'export totals of a month', open }),
  onGet('/statements/lines.csv', 'support', linesFile),
  ...listScreens({
    path: '/users/:serviceid/statements',
    right: 'look',
    exported: 'export lines of user',
    open: linesOfOne,
  }),
]

async function open(visit: OperatorVisit): Promise<OpenList<NameTotals>> {
  const { partner, months, month } = await monthOf(visit)
  const { totals, byName } = await totalOf(visit, { partner, months, month })
  return {
    title: 'Months',
    heading: 'By offer, benefit and insurer',
    caption: `What ${month.name} comes to by offer, benefit and insurer`,
    empty: 'Nobody held anything in this month.',
    file: `statement-${month.name}.csv`,
    looked: 'look at a month',
    partner,
    filters: [
      { name: 'partner', label: 'Partner', value: partner.partnerId, options: [...visit.partnerNames] },
      { name: 'month', label: 'Month', value: month.name, options: months.listed.map(({ name }) => name) },
    ],
    columns: [
      { name: 'kind', label: 'Line', value: one => one.kind },
      { name: 'name', label: 'Of', value: one => one.name },
      { name: 'insurer', label: 'Insurer', value: one => one.insurer },
      { name: 'lines', label: 'Lines', value: one => one.lines },
      cents('personcents', 'People'),
      cents('partnercents', 'Partner'),
      cents('insurercents', 'Insurer gets'),
    ],
    rows: byName,
    around: () => ({
      above: html`${totalFacts(partner, { month, months, totals })}
${
  visit.may('support') &&
  html`<p><a
href="/statements/lines.csv?partner=${partner.partnerId}&month=${month.name}">All lines of the month as CSV</a></p>`
}`,
    }),
  }
}

function cents(name: 'personcents' | 'partnercents' | 'insurercents', label: string) {
  return {
    name,
    label,
    value: (one: NameTotals) => one[name],
    cell: (one: NameTotals) => dollars(one[name]),
  }
}

function totalFacts(
  { timezone }: Partner,
  { month, months, totals }: { month: Month; months: Months; totals: Summary['totals'] },
): Slot {
  const final = months.finals.find(one => one.month === month.name)
  const finalAt = final?.finalized_at ?? undefined
  return html`<section class="card across">${facts([
    [
      'Statement',
      finalAt === undefined
        ? tag('open', 'wait')
        : html`${tag('final', 'good')} since ${when(finalAt, timezone)}`,
    ],
    ['People', totals.users.toLocaleString('en-US')],
    ['The partner deducts', dollars(totals.personcents)],
    ['The partner pays', dollars(totals.partnercents)],
    ['Insurers get', dollars(totals.insurercents)],
  ])}</section>`
}

/** The partner and the month of the address: the first partner, and the running month, unless it names others. */
async function monthOf(visit: OperatorVisit): Promise<OfMonth> {
  const [first] = visit.partnerNames.keys()
  const wanted = visit.query.get('partner') ?? first
  if (wanted === undefined) throw notHere('partner')
  const partner = await ownPartner(visit, wanted)
  const months = await monthsOf(visit.context.counting, partner)
  const month = months.listed.find(({ name }) => name === visit.query.get('month')) ?? months.listed[0]
  if (!month) throw notHere('month')
  return { partner, months, month }
}

async function linesFile(visit: OperatorVisit): Promise<Answer> {
  const { partner, months, month } = await monthOf(visit)
  await record(visit, { action: 'export lines of a month', partner })
  // Without the partner's own facts of its people, which are personal data: no reason was given to see them.
  const query = { month, months, from: FIRST_PLACE, isForOperator: true }
  const withTier = await hasTierColumn(visit.context.counting, partner, query)
  const content = deskCsvOf(linesOf(visit, { partner, months, month }), withTier)
  return { file: `lines-${month.name}.csv`, type: CSV, content }
}

type OfMonth = { readonly partner: Partner; readonly months: Months; readonly month: Month }

/** The lines of a month, page by page, those of an open month as they would be now. */
function linesOf({ context: { counting } }: OperatorVisit, { partner, months, month }: OfMonth) {
  const query = { month, months, isForOperator: true }
  return everyPage(from => readLines(counting, partner, { ...query, from }), FIRST_PLACE)
}

/** What the lines of a month come to. */
async function totalOf(visit: OperatorVisit, of: OfMonth): Promise<Summary> {
  const { add, summary } = openSummary()
  for await (const lines of linesOf(visit, of)) add(lines)
  return summary()
}

async function linesOfOne(visit: OperatorVisit): Promise<OpenList<LineOfUser>> {
  const { partner, serviceId } = await openUser(visit)
  const { counting } = visit.context
  const months = await monthsOf(counting, partner)
  return {
    path: `/users/${serviceId}/statements`,
    title: `Months of user ${serviceId.slice(-12)}`,
    heading: 'Lines, the newest month first',
    caption: 'Lines of this user in monthly statements',
    empty: 'This user is in no statement.',
    file: `statements-${serviceId}.csv`,
    looked: 'look at lines of user',
    partner,
    serviceId,
    filters: [],
    around: () => ({
      above: html`<p><a href="/users/${serviceId}">User ${serviceId.slice(-12)}</a> of ${partner.name}</p>`,
    }),
    columns,
    rows: await linesOfUser(counting, partner, { serviceId, months }),
  }
}

const columns: readonly Column<LineOfUser>[] = [
  {
    name: 'month',
    label: 'Month',
    value: one => one.month,
    cell: one => html`${one.month} ${tag(one.isFinal ? 'final' : 'open', one.isFinal ? 'good' : 'wait')}`,
  },
  {
    name: 'kind',
    label: 'Line',
    value: ({ line }) => line.kind,
    cell: ({ line }) =>
      html`${line.kind}${line.about !== '' && html`<br><span class="hint">about ${line.about}</span>`}`,
  },
  { name: 'about', label: 'About', value: ({ line }) => line.about, isOfFile: true },
  {
    name: 'name',
    label: 'Of',
    value: ({ line }) => line.name || line.offer,
    cell: ({ line }) =>
      html`${line.name || line.offer}${
        line.name !== '' && line.offer !== '' && html`<br><span class="hint">under ${line.offer}</span>`
      }`,
  },
  { name: 'fromdate', label: 'First day', value: ({ line }) => line.fromdate },
  { name: 'todate', label: 'Last day', value: ({ line }) => line.todate },
  {
    name: 'personcents',
    label: 'Person',
    value: ({ line }) => line.personcents,
    cell: ({ line: { personcents, takenby } }) =>
      html`${dollars(personcents)}${takenby !== '' && html`<br><span class="hint">taken by the ${takenby}</span>`}`,
  },
  {
    name: 'partnercents',
    label: 'Partner',
    value: ({ line }) => line.partnercents,
    cell: ({ line }) => dollars(line.partnercents),
  },
  {
    name: 'insurercents',
    label: 'Insurer gets',
    value: ({ line }) => line.insurercents,
    cell: ({ line: { insurercents, insurer } }) =>
      html`${dollars(insurercents)}${insurer !== '' && html`<br><span class="hint">${insurer}</span>`}`,
  },
]
