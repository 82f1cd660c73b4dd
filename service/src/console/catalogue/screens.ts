import type { Zone } from '../../calendar/calendar.ts'
import { type Difference, differencesOf, shortened } from '../../catalogue/difference.ts'
import { type Benefit, type Catalogue, type Offer, offerHas } from '../../catalogue/model.ts'
import { listPublications, type Publication, readVersion } from '../../catalogue/published.ts'
import { html, type Slot } from '../../http/html.ts'
import { type Answer, notHere, type OperatorVisit, onGet, type Screen } from '../screen/screen.ts'
import { dated, type List, listPart, listScreens, type OpenList } from '../views/list.ts'
import { section, selectField, tag } from '../views/parts.ts'

/** The versions of the catalogue, and how they differ; `enrolment catalogue publish` makes the next one. */
export const catalogueScreens: readonly Screen[] = [
  ...listScreens({ path: '/catalogue', right: 'look', exported: 'export catalogue', open }),
  onGet('/catalogue/versions/:version', 'look', show),
  onGet('/catalogue/diff', 'look', compare),
]

async function open({ context, zone }: OperatorVisit): Promise<OpenList<Publication>> {
  const versions = await listPublications(context.database)
  return {
    ...versionList(versions, zone),
    title: 'Catalogue',
    heading: 'Versions',
    file: 'catalogue.csv',
    filters: [],
    around: () => ({
      below: html`${versions.length > 1 && section('Compare two', compareForm(versions))}
<p class="hint">The next version is checked, weighed and published by <code>enrolment catalogue check</code>,
<code>impact</code> and <code>publish</code>.</p>`,
    }),
  }
}

function compareForm(versions: readonly Publication[]): Slot {
  const choice = (name: string, label: string, chosen: number) =>
    selectField(
      name,
      label,
      versions.map(({ version }) => `${version}`),
      `${chosen}`,
    )
  const newest = versions[0]?.version ?? 1
  return html`<form method="get" action="/catalogue/diff"
class="row">${choice('from', 'From', newest - 1)}${choice('to', 'To', newest)}<button
class="secondary">Compare</button></form>`
}

async function show(visit: OperatorVisit): Promise<Answer> {
  const { version, catalogue } = await required(visit, visit.params['version'])
  return {
    title: `Version ${version}`,
    body: html`<p><a href="/catalogue">All versions</a>${
      version > 1 &&
      html` · <a href="/catalogue/diff?from=${version - 1}&amp;to=${version}">What it changed</a>`
    }</p>
${listPart('Offers', offerList(catalogue))}
${listPart('Benefits', benefitList(catalogue))}`,
  }
}

async function compare(visit: OperatorVisit): Promise<Answer> {
  const { version: from, catalogue: before } = await required(visit, visit.query.get('from') ?? '')
  const { version: to, catalogue: after } = await required(visit, visit.query.get('to') ?? '')
  return {
    title: `From version ${from} to ${to}`,
    body: html`<p><a href="/catalogue">All versions</a> · <a
href="/catalogue/diff?from=${to}&amp;to=${from}">The other way round</a></p>
${listPart('What differs', differenceList(differencesOf(before, after)))}`,
  }
}

async function required(
  { context }: OperatorVisit,
  text = '',
): Promise<{ version: number; catalogue: Catalogue }> {
  const version = Number(text)
  const catalogue = /^[1-9]\d{0,8}$/.test(text) ? await readVersion(context.database, version) : undefined
  if (!catalogue) throw notHere('version')
  return { version, catalogue }
}

/** The published versions, newest first. */
export function versionList(versions: readonly Publication[], zone: Zone): List<Publication> {
  const newest = versions[0]?.version
  return {
    caption: `Published versions, times of ${zone}`,
    empty: 'Nothing is published yet.',
    rows: versions,
    columns: [
      {
        name: 'version',
        label: 'Version',
        value: ({ version }) => version,
        cell: ({ version }) =>
          html`<a href="/catalogue/versions/${version}">${version}</a>${
            version === newest && html` ${tag('in use', 'good')}`
          }`,
      },
      dated('published', 'Published', ({ publishedAt }) => publishedAt, zone),
      { name: 'by', label: 'By', value: ({ by }) => by },
      {
        name: 'changes',
        label: 'Changes',
        value: ({ version }) => (version > 1 ? `from ${version - 1} to ${version}` : ''),
        cell: ({ version }) =>
          version > 1
            ? html`<a
href="/catalogue/diff?from=${version - 1}&amp;to=${version}">from ${version - 1} to ${version}</a>`
            : '–',
      },
    ],
  }
}

/** How two versions differ, benefits before offers. */
export function differenceList(differences: readonly Difference[]): List<Difference> {
  return {
    caption: 'How the two versions differ',
    empty: 'They say the same.',
    rows: differences,
    columns: differenceColumns,
  }
}

const differenceColumns: List<Difference>['columns'] = [
  {
    name: 'name',
    label: 'Benefit or offer',
    cell: ({ kind, name }) => html`${kind} <code>${name}</code>`,
  },
  {
    name: 'what',
    label: 'What',
    cell: one => (one.field === '' ? tag(whatOf(one), isLeftOut(one) ? 'bad' : 'good') : one.field),
  },
  { name: 'before', label: 'Before', cell: one => shortened(one).from || '–' },
  {
    name: 'after',
    label: 'After',
    cell: one => (isLeftOut(one) ? KEPT : shortened(one).to || '–'),
  },
]

const KEPT = 'closed to newcomers; its holders keep it'

function whatOf(one: Difference): string {
  if (one.field !== '') return one.field
  return isLeftOut(one) ? 'left out' : 'new'
}

function isLeftOut({ field, from }: Difference): boolean {
  return field === '' && from !== ''
}

/** The offers of a version, by rank. */
export function offerList(catalogue: Catalogue): List<Offer> {
  const names = (benefits: readonly string[]) => benefits.join(', ')
  return {
    caption: 'Offers',
    empty: 'No offer.',
    rows: [...catalogue.offers.values()].sort((a, b) => a.rank - b.rank),
    columns: [
      {
        name: 'offer',
        label: 'Offer',
        cell: one => html`${one.displayname.en} <code>${one.offer}</code>`,
      },
      { name: 'rank', label: 'Rank', value: one => one.rank },
      { name: 'fixed', label: 'Fixed', value: one => names(one.fixed) },
      { name: 'tochoose', label: 'To choose', value: one => names(one.selectable) },
      { name: 'slots', label: 'Slots', value: one => one.slots },
    ],
  }
}

/** The benefits of a version, in the order of its file. */
export function benefitList(catalogue: Catalogue): List<Benefit> {
  const rulesOf = ({ rules }: Benefit) => rules.map(rule => rule.text.en).join(' ') || 'everyone'
  const offersOf = ({ name }: Benefit) =>
    [...catalogue.offers.values()]
      .filter(offer => offerHas(offer, name))
      .map(offer => `${offer.displayname.en}${offer.fixed.includes(name) ? ' (fixed)' : ''}`)
      .join(', ') || 'no offer'
  return {
    caption: 'Benefits',
    empty: 'No benefit.',
    rows: [...catalogue.benefits.values()],
    columns: [
      {
        name: 'benefit',
        label: 'Benefit',
        cell: one => html`${one.displayname.en} <code>${one.name}</code>`,
      },
      { name: 'type', label: 'Type', value: one => one.benefittype },
      { name: 'rules', label: 'Rules', value: rulesOf },
      { name: 'in', label: 'In', value: offersOf },
    ],
  }
}
