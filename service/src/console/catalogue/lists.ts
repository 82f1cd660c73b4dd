import type { Zone } from '../../calendar/calendar.ts'
import { type Difference, shortened } from '../../catalogue/difference.ts'
import { type Benefit, type Catalogue, type Offer, offerHas } from '../../catalogue/model.ts'
import type { Publication } from '../../catalogue/published.ts'
import { html } from '../../http/html.ts'
import { dated, type List } from '../views/list.ts'
import { tag } from '../views/parts.ts'

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
