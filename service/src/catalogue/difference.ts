import type { Benefit, Catalogue, Offer, Price } from './model.ts'

/** One difference between two catalogues, in words: `from` is empty for something new, `to` for something removed. */
export type Difference = {
  readonly kind: 'benefit' | 'offer'
  readonly name: string
  /** Empty when the whole benefit or offer is new or removed. */
  readonly field: string
  readonly from: string
  readonly to: string
}

/** The differences of two catalogues, benefits before offers, each by name; [] when their content is equal. */
export function differencesOf(before: Catalogue, after: Catalogue): Difference[] {
  return [
    ...compareAll('benefit', before.benefits, after.benefits),
    ...compareAll('offer', before.offers, after.offers),
  ]
}

const MOST_SHOWN = 240

/**
 * Both texts of a difference; long ones (a list of ZIP codes may have 10,000) begin shortly before the first
 * difference.
 */
export function shortened({ from, to }: Pick<Difference, 'from' | 'to'>): { from: string; to: string } {
  let same = 0
  while (same < from.length && from[same] === to[same]) same += 1
  const start = Math.max(0, same - 40)
  const excerpt = (text: string) => {
    if (text.length <= MOST_SHOWN) return text
    const end = start + MOST_SHOWN
    return `${start > 0 ? '… ' : ''}${text.slice(start, end)}${end < text.length ? ' …' : ''}`
  }
  return { from: excerpt(from), to: excerpt(to) }
}

function compareAll<T extends Benefit | Offer>(
  kind: Difference['kind'],
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
): Difference[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort()
  return names.flatMap(name => {
    const [was, is] = [before.get(name), after.get(name)]
    if (!was || !is)
      return [{ kind, name, field: '', from: was?.displayname.en ?? '', to: is?.displayname.en ?? '' }]
    const [from, to] = [new Map(fieldsOf('', was)), new Map(fieldsOf('', is))]
    return [...new Set([...from.keys(), ...to.keys()])]
      .filter(field => from.get(field) !== to.get(field))
      .map(field => ({ kind, name, field, from: from.get(field) ?? '', to: to.get(field) ?? '' }))
  })
}

type Group = Readonly<Record<string, unknown>>

/** What a value says, by the keys that lead to it in a catalogue file; what stands in a list goes by its own name. */
function fieldsOf(field: string, value: unknown): (readonly [field: string, text: string])[] {
  if (isWord(value)) return [[field, textOf(value)]]
  if (Array.isArray(value))
    return value.flatMap((one: Group) => {
      const [name, rest] = named(one)
      return fieldsOf(`${field} ${name}`, rest)
    })
  const group = value as Group
  if ('cents' in group) {
    const { cents, per, taken } = group as Partial<Price>
    const price = [cents ? dollars(cents) : 'nothing', per && `a ${per}`, taken && `taken by the ${taken.by}`]
    const how = taken ? fieldsOf(`${field} taken`, taken.how) : []
    return [[field, price.filter(Boolean).join(' ')], ...how]
  }
  const members = Object.entries(group)
  if (!('en' in group) && members.every(([, member]) => isWord(member)))
    return [[field, members.map(([key, member]) => `${key} ${textOf(member)}`).join('; ') || 'yes']]
  return members.flatMap(([key, member]) => fieldsOf(`${field} ${key}`.trim(), member))
}

function isWord(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every(isWord)
  return typeof value !== 'object'
}

function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join(', ') : String(value)
}

/** A tier, a rule or a document of a benefit, with what tells it apart; a rule in the form that it has in the file. */
function named({ tier, code, kind, text, ...rest }: Group): readonly [name: string, rest: Group] {
  if (tier !== undefined) return [String(tier), rest]
  if (code !== undefined) return [String(code), { text, [String(kind)]: rest }]
  // Without the hash of the content with which the address begins, so that a replaced file is a change of its document.
  return [`${String(rest['file']).split('/').at(-1)} (${rest['language']})`, rest]
}

function dollars(cents: number): string {
  return `$${(cents / 100).toFixed(2)}`
}
