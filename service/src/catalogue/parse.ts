import type { Cursor } from './cursor.ts'
import { type CatalogueDocument, readCatalogue, writeDocument } from './document.ts'
import type { FileMention } from './file-paths.ts'
import { MAX_BENEFITS, MAX_OFFERS } from './limits.ts'
import type { Benefit, Catalogue, Offer } from './model.ts'
import { openYaml } from './open-yaml.ts'
import type { Place, Problem } from './problem.ts'
import { readBenefit } from './read-benefit.ts'
import { type Ingredient, readOffer } from './read-offer.ts'
import type { Mention } from './read-values.ts'

/** A catalogue file without a problem: the catalogue, the value to store, and where each benefit and offer stands. */
export type ParsedCatalogue = {
  readonly ok: true
  readonly catalogue: Catalogue
  readonly document: CatalogueDocument
  readonly places: ReadonlyMap<string, Place>
  /** The icons and files that the catalogue names, which are not looked at here. */
  readonly files: readonly FileMention[]
}

/** A catalogue file that cannot be published: everything that is wrong with it, from top to bottom. */
export type RefusedCatalogue = { readonly ok: false; readonly problems: readonly Problem[] }

/**
 * Reads a catalogue from YAML (docs/catalogue.md). A refusal carries all problems at once, each with line, column,
 * path and a message with the remedy; only where the text is no YAML, too large or nested too deeply are the rest
 * not looked for.
 */
export function parseCatalogue(yamlText: string): ParsedCatalogue | RefusedCatalogue {
  const { root, problems } = openYaml(yamlText)
  if (root === undefined) return refuse(problems)
  const fields = root.fields({
    schema: 'schema: 1 as the first line',
    benefits: 'the list of benefits',
    offers: 'the list of offers',
  })
  fields.schema.integer(1, 1)
  const offerMentions: Mention[] = []
  const files: FileMention[] = []
  const ingredients: Ingredient[] = []
  const benefits = readAll(fields.benefits, MAX_BENEFITS, at =>
    readBenefit(at, { offers: offerMentions, files }),
  )
  const offers = readAll(fields.offers, MAX_OFFERS, at => readOffer(at, ingredients))
  const places = refuseRepeatedNames(benefits, offers)
  refuseRepeatedRanks(offers)
  refuseUnknown(offerMentions, 'offer', new Set(offers.map(({ value }) => value.offer)))
  refuseUnknown(ingredients, 'benefit', new Set(benefits.map(({ value }) => value.name)))
  refuseShutOut(ingredients, benefits)
  if (problems.length > 0) return refuse(problems)
  const document = writeDocument(values(benefits), values(offers))
  return { ok: true, catalogue: readCatalogue(document), document, places, files }
}

type Entry<T> = { readonly at: Cursor; readonly value: T }

function refuse(problems: readonly Problem[]): RefusedCatalogue {
  return { ok: false, problems: [...problems].sort((a, b) => a.line - b.line || a.column - b.column) }
}

function readAll<T>(at: Cursor, max: number, read: (at: Cursor) => T): Entry<T>[] {
  if (at.isEmpty) at.refuse('is an empty list; a catalogue needs at least one')
  return at.items(max).map(item => ({ at: item, value: read(item) }))
}

function values<T>(entries: readonly Entry<T>[]): T[] {
  return entries.map(entry => entry.value)
}

function refuseRepeatedNames(benefits: readonly Entry<Benefit>[], offers: readonly Entry<Offer>[]) {
  const places = new Map<string, Place>()
  const named = [
    ...benefits.map(({ at, value }) => ({ at, name: value.name })),
    ...offers.map(({ at, value }) => ({ at, name: value.offer })),
  ]
  for (const { at, name } of named.filter(({ name }) => name !== '')) {
    const earlier = places.get(name)
    if (earlier)
      at.refuse(
        `the name "${name}" is taken by ${earlier.path} in line ${earlier.line}; benefits and offers share one set of names, choose another`,
      )
    else places.set(name, at.place)
  }
  return places
}

function refuseRepeatedRanks(offers: readonly Entry<Offer>[]): void {
  const ranks = new Map<number, string>()
  for (const { at, value } of offers) {
    const holder = ranks.get(value.rank)
    if (holder !== undefined && value.rank > 0)
      at.refuse(`rank ${value.rank} is the rank of "${holder}" too; give each offer a rank of its own`)
    ranks.set(value.rank, value.offer)
  }
}

function refuseUnknown(
  mentions: readonly Mention[],
  kind: 'benefit' | 'offer',
  known: ReadonlySet<string>,
): void {
  for (const { at, name } of mentions)
    if (!known.has(name))
      at.refuse(`there is no ${kind} "${name}" in this file; correct the name or add the ${kind}`)
}

/** A selectable benefit may show why it is not for this offer; a fixed one that nobody can get is a mistake. */
function refuseShutOut(ingredients: readonly Ingredient[], benefits: readonly Entry<Benefit>[]): void {
  const rules = new Map(benefits.map(({ value }) => [value.name, value.rules]))
  for (const { at, name, offer, list } of ingredients) {
    const closing = rules.get(name)?.find(rule => rule.kind === 'offers' && !rule.in.includes(offer))
    if (list === 'fixed' && closing)
      at.refuse(
        `the rule ${closing.code} of "${name}" does not admit the offer "${offer}"; add the offer to the rule or take the benefit out`,
      )
  }
}
