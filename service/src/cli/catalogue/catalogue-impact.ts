import type { Command } from '@benefit-enrolment/command'
import { type Difference, differencesOf } from '../../catalogue/difference.ts'
import type { Catalogue } from '../../catalogue/model.ts'
import { openPublished } from '../../catalogue/published.ts'
import { clockOn } from '../../partners/partner.ts'
import { inWorkspace } from '../workspace.ts'
import { readCatalogueFile, refuseBreaks } from './catalogue-file.ts'
import { countImpact, type Impact } from './count-impact.ts'
import { closedNames, type ImpactCounts, type NameCounts, sumOf } from './impact-tally.ts'

/** Counts what publishing a file would do, without publishing it. */
export const impact: Command = {
  name: 'catalogue impact',
  arguments: ['FILE'],
  summary: 'Count what publishing a file would do to the existing users; changes nothing.',
  run: async input => {
    const parsed = await readCatalogueFile(input.positionals[0] ?? '')
    await inWorkspace(input, async ({ database, keyring, real }) => {
      await refuseBreaks(parsed, database)
      const counted = await countImpact(
        { database, keyring, clock: clockOn(real), published: openPublished({ database, real }) },
        parsed.catalogue,
      )
      const total = sumOf(counted.partners.map(({ counts }) => counts))
      const { version, follows, today, partners } = counted
      const prices = today ? pricesThatChange(today, parsed.catalogue) : []
      const closed = closedNames(total, { today, next: parsed.catalogue })
      input.print(
        {
          version,
          follows,
          closed,
          prices,
          ...viewOf(total),
          partners: partners.map(({ partner, counts }) => ({
            partnerid: partner.partnerId,
            partnername: partner.name,
            ...viewOf(counts),
          })),
        },
        [...linesOf(counted, total, closed), ...priceLines(prices)],
      )
    })
  },
}

const MONEY = /^((tiers \S+ )?(cost|premium)|fee|firstmonth|lastmonth)$/

/** The prices that differ. They hold for whoever begins from then on: prices are terms, which holders keep. */
function pricesThatChange(today: Catalogue, next: Catalogue): Difference[] {
  return differencesOf(today, next).filter(({ field }) => MONEY.test(field))
}

function priceLines(prices: readonly Difference[]): string[] {
  return [
    '',
    ...(prices.length === 0
      ? ['No price changes.']
      : [
          'Prices that change for whoever begins from then on; who holds the benefit or offer keeps its former price:',
          ...prices.map(
            one => `  ${one.kind} ${one.name}: ${one.field}: ${one.from || 'none'} → ${one.to || 'none'}`,
          ),
        ]),
  ]
}

function viewOf({ benefits, offers, ...counts }: ImpactCounts) {
  return { ...counts, benefits: namedView(benefits), offers: namedView(offers) }
}

function namedView(names: ReadonlyMap<string, NameCounts>) {
  return byName(names).map(([name, counts]) => ({ name, ...counts }))
}

function byName(names: ReadonlyMap<string, NameCounts>): (readonly [string, NameCounts])[] {
  return [...names].sort(([a], [b]) => (a < b ? -1 : 1))
}

function linesOf(
  { version, follows, partners }: Impact,
  total: ImpactCounts,
  closed: readonly { name: string; keep: number }[],
): string[] {
  return [
    `Version ${version} would follow ${follows === 0 ? 'nothing' : `version ${follows}`}. ${total.users} users of ${partners.length} partners were looked at; nothing was changed.`,
    ...(closed.length > 0
      ? [
          `Closed to newcomers, kept by holders: ${closed.map(one => `${one.name} (${one.keep})`).join(', ')}.`,
        ]
      : []),
    ...countLines(total),
    ...(partners.length > 1
      ? partners.flatMap(({ partner, counts }) =>
          counts.users === 0 ? [] : ['', `${partner.name}  ${partner.partnerId}`, ...countLines(counts)],
        )
      : []),
  ]
}

function countLines(counts: ImpactCounts): string[] {
  return [
    `  ${counts.users} users: ${counts.members} members, ${counts.applicants} applicants`,
    `  pending picks or changes called off: ${counts.calledoff} users`,
    `  see fewer benefits: ${counts.applicantsless} applicants, ${counts.membersless} members`,
    `  see more benefits: ${counts.applicantsmore} applicants, ${counts.membersmore} members`,
    ...(counts.unknown > 0
      ? [`  applicants whose birth date, state or ZIP code is not known yet: ${counts.unknown}`]
      : []),
    `  marked offerineligible: ${counts.offerineligible} users`,
    ...byName(counts.benefits).map(([name, one]) => `  benefit ${name}: ${phrase(one)}`),
    ...byName(counts.offers).map(([name, one]) => `  offer ${name}: ${phrase(one)}`),
  ]
}

const phrases: Readonly<Record<keyof NameCounts, string>> = {
  keep: 'keep it',
  seeless: 'no longer see it',
  seemore: 'see it anew',
  calledoff: 'called off',
  endwithchange: 'end with a pending change',
  askmore: 'need one thing more',
  couldnotjoin: 'hold it, and could not join now',
}

function phrase(counts: NameCounts): string {
  return (Object.keys(phrases) as (keyof NameCounts)[])
    .filter(key => counts[key] > 0)
    .map(key => `${counts[key]} ${phrases[key]}`)
    .join(', ')
}
