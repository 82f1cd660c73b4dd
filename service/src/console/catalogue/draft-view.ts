import type { Difference } from '../../catalogue/difference.ts'
import { type Html, html, type Slot } from '../../http/html.ts'
import { part, table } from '../views/parts.ts'
import type { Counting } from './counting.ts'
import { differenceColumns } from './lists.ts'
import { closedNames, type ImpactCounts, type NameCounts, sumOf } from './tally.ts'

/** What a draft changes, and what publishing it would do to which users, as far as that has been counted. */
export function draftView(differences: readonly Difference[], counting: Counting): Html {
  return html`${part('What it changes', differencesTable(differences))}
${part('What it would do', impactView(counting))}`
}

function differencesTable(differences: readonly Difference[]): Html {
  return table({
    caption: 'How the two versions differ',
    columns: differenceColumns.map(({ label }) => label),
    rows: differences.map(one => differenceColumns.map(({ cell }) => cell(one))),
    empty: 'They say the same.',
  })
}

function impactView({ users, impact, hasFailed }: Counting): Slot {
  if (hasFailed)
    return html`<p class="notice bad">It could not be counted; the log says why. Look again to count anew.</p>`
  if (!impact)
    return html`<p role="status">Counting, ${users} users so far. Nothing is changed by that. Look again in a while.</p>`
  const total = sumOf(impact.partners.map(({ counts }) => counts))
  const closed = closedNames(total, { today: impact.today, next: impact.next })
  return html`<p>${total.users} users were looked at: ${total.members} members, ${total.applicants} applicants. What is held stays, by the terms under which it began.</p>
${closed.length > 0 && html`<p>Closed to newcomers, kept by holders: ${closed.map(({ name, keep }) => `${name} (${keep})`).join(', ')}.</p>`}
${table({
  caption: 'What it would do, by partner',
  columns: ['Partner', 'Users', 'Called off', 'See less', 'See more', 'Marked offerineligible'],
  rows: [
    ['All', ...totalsOf(total)],
    ...impact.partners
      .filter(({ counts }) => counts.users > 0)
      .map(({ partner, counts }) => [
        html`<a href="/partners/${partner.partnerId}">${partner.name}</a>`,
        ...totalsOf(counts),
      ]),
  ],
  empty: '',
})}
${namesTable('By benefit', total.benefits)}
${namesTable('By offer', total.offers)}
${impact.partners
  .filter(({ counts }) => counts.calledoff > 0 && impact.partners.length > 1)
  .map(
    ({ partner, counts }) =>
      html`<details><summary>${partner.name}: by benefit and offer</summary>${namesTable(`Benefits of ${partner.name}`, counts.benefits)}${namesTable(`Offers of ${partner.name}`, counts.offers)}</details>`,
  )}
${total.unknown > 0 && html`<p class="hint">Of ${total.unknown} applicants the birth date, the state or the ZIP code is not known yet, so what they will see cannot be said.</p>`}
<p class="hint">Pending changes are called off at their own time, not on the day of publishing. Nobody is marked by a new version: an offer is judged by the rules under which it began.</p>`
}

function totalsOf(counts: ImpactCounts): Slot[] {
  return [
    counts.users,
    counts.calledoff,
    counts.applicantsless + counts.membersless,
    counts.applicantsmore + counts.membersmore,
    counts.offerineligible,
  ]
}

function namesTable(caption: string, names: ReadonlyMap<string, NameCounts>): Html {
  return html`<h3>${caption}</h3>${table({
    caption,
    columns: [
      'Name',
      'Keep it',
      'Called off',
      'End with a change',
      'One thing more',
      'See it no more',
      'See it anew',
      'Could not join now',
    ],
    rows: [...names]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, one]) => [
        html`<code>${name}</code>`,
        one.keep,
        one.calledoff,
        one.endwithchange,
        one.askmore,
        one.seeless,
        one.seemore,
        one.couldnotjoin,
      ]),
    empty: 'None is touched.',
  })}`
}
