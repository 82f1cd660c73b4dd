import type { Month } from '../../calendar/month.ts'
import { html, type Slot } from '../../http/html.ts'
import type { Partner } from '../../partners/partner.ts'
import { operatorCsvOf } from '../../statements/csv-file.ts'
import { type Months, monthsOf } from '../../statements/months.ts'
import { everyPage, FIRST_PLACE, readPage } from '../../statements/pages.ts'
import { dollars, type NameTotals, type Summary } from '../../statements/summary.ts'
import { ownPartner } from '../partners.ts'
import { record } from '../screen/record.ts'
import { type Answer, notHere, type OperatorVisit, onGet, type Screen } from '../screen/screen.ts'
import { listScreens, type OpenList } from '../views/declared-list.ts'
import { CSV } from '../views/list.ts'
import { facts, tag, when } from '../views/parts.ts'
import { moversPart } from './movers.ts'
import { userLineScreens } from './user-lines.ts'

/** What a month of a partner comes to, who came and went since the month before, and its lines as a file. */
export const statementScreens: readonly Screen[] = [
  ...listScreens({ path: '/statements', role: 'viewer', exported: 'export totals of a month', open }),
  onGet('/statements/lines.csv', 'support', linesFile),
  ...userLineScreens,
]

/** A page waits so long for a count; that of a small partner is whole by then. */
const PATIENCE_MS = 1000

async function open(visit: OperatorVisit): Promise<OpenList<NameTotals>> {
  const { partner, months, month } = await monthOf(visit)
  const count = visit.context.monthCounts.of(partner, month, months)
  await Promise.race([count.done, new Promise(resolve => setTimeout(resolve, PATIENCE_MS))])
  const { totals, byName } = count.summary()
  return {
    title: 'Months',
    heading: 'By offer, benefit and insurer',
    caption: `What ${month.name} comes to by offer, benefit and insurer`,
    empty: count.isWhole ? 'Nobody held anything in this month.' : 'Nothing is counted yet.',
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
      above: html`${
        !count.isWhole &&
        html`<p class="notice" role="status">Still counting:
${totals.users.toLocaleString('en-US')} people so far. Load this page again for the rest.</p>`
      }
${totalFacts(partner, { month, months, totals })}
${
  visit.isSupport &&
  html`<p><a
href="/statements/lines.csv?partner=${partner.partnerId}&month=${month.name}">All lines of the month as CSV</a></p>`
}`,
      beside: moversPart(visit, count),
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
async function monthOf(visit: OperatorVisit): Promise<{ partner: Partner; months: Months; month: Month }> {
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
  const { counting, slow } = visit.context
  await record(visit, { action: 'export lines of a month', partner })
  const pages = everyPage(
    from => slow.inTurn(() => readPage(counting, partner, { month, months, from, isForOperator: true })),
    FIRST_PLACE,
  )
  return { file: `lines-${month.name}.csv`, type: CSV, content: operatorCsvOf(pages) }
}
