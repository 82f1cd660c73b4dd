import { html } from '../../http/html.ts'
import { monthsOf } from '../../statements/months.ts'
import { dollars } from '../../statements/summary.ts'
import { type LineOfUser, linesOfUser } from '../../statements/user-lines.ts'
import type { OperatorVisit, Screen } from '../screen/screen.ts'
import { openUser } from '../user-data/living-user.ts'
import { listScreens, type OpenList } from '../views/declared-list.ts'
import type { Column } from '../views/list.ts'
import { tag } from '../views/parts.ts'

/** The lines of one user, erased or not, in all months. */
export const userLineScreens: readonly Screen[] = listScreens({
  path: '/users/:serviceid/statements',
  role: 'viewer',
  exported: 'export lines of user',
  open,
})

async function open(visit: OperatorVisit): Promise<OpenList<LineOfUser>> {
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
