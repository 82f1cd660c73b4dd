import { type Html, html, type Slot } from '../../http/html.ts'
import { part, table } from '../views/parts.ts'
import type { Counting } from './counting.ts'
import { closedNames, type ImpactCounts, type NameCounts, sumOf } from './tally.ts'

/** What a draft changes, and what publishing it would do to which users, as far as that has been counted. */
export function draftView(differences: Html, counting: Counting): Html {
  return html`${differences}
${part('What it would do', impactView(counting))}`
}

function impactView({ users, impact, hasFailed }: Counting): Slot {
  if (hasFailed)
    return html`<p class="notice bad">It could not be counted; the log says why. Look again to count anew.</p>`
  if (!impact)
    return html`<p role="status">Counting, ${users} users so far. Nothing is changed by that. Look again in a while.</p>`
  const total = sumOf(impact.partners.map(({ counts }) => counts))
  const closed = closedNames(total, { today: impact.today, next: impact.next })
  // Those of whom most would be called off come first; with a thousand partners, a page of all would hold up requests
  // while it is made, and be read by nobody.
  const touched = impact.partners
    .filter(({ counts }) => counts.users > 0)
    .sort((a, b) => b.counts.calledoff - a.counts.calledoff || b.counts.users - a.counts.users)
  const detailed = touched.filter(({ counts }) => counts.calledoff > 0 && impact.partners.length > 1)
  return html`<p>${total.users} users were looked at: ${total.members} members, ${total.applicants} applicants. What is held stays, by the terms under which it began.</p>
${closed.length > 0 && html`<p>Closed to newcomers, kept by holders: ${closed.map(({ name, keep }) => `${name} (${keep})`).join(', ')}.</p>`}
${table({
  caption: 'What it would do, by partner',
  columns: ['Partner', 'Users', 'Called off', 'See less', 'See more', 'Marked offerineligible'],
  rows: [
    ['All', ...totalsOf(total)],
    ...touched
      .slice(0, MOST_PARTNERS)
      .map(({ partner, counts }) => [
        html`<a class="long" href="/partners/${partner.partnerId}">${partner.name}</a>`,
        ...totalsOf(counts),
      ]),
  ],
  empty: '',
})}
${(touched.length > MOST_PARTNERS || detailed.length > MOST_DETAILED) && html`<p class="hint">The ${MOST_PARTNERS} partners with the most called off are listed, and the first ${MOST_DETAILED} of them by benefit and offer. <code>enrolment catalogue impact FILE</code> counts all.</p>`}
${namesTable('By benefit', total.benefits)}
${namesTable('By offer', total.offers)}
${detailed
  .slice(0, MOST_DETAILED)
  .map(
    ({ partner, counts }) =>
      html`<details><summary>${partner.name}: by benefit and offer</summary>${namesTable(`Benefits of ${partner.name}`, counts.benefits)}${namesTable(`Offers of ${partner.name}`, counts.offers)}</details>`,
  )}
${total.unknown > 0 && html`<p class="hint">Of ${total.unknown} applicants the birth date, the state or the ZIP code is not known yet, so what they will see cannot be said.</p>`}
<p class="hint">Pending changes are called off at their own time, not on the day of publishing. Nobody is marked by a new version: an offer is judged by the rules under which it began.</p>`
}

const MOST_PARTNERS = 100
const MOST_DETAILED = 20

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
