// What a quarter must come to, counted by a program that knows only what was done: who held what from when to when, at which
// price. It knows nothing of the service's own rules but what docs/month.md says.

/** A day as `YYYY-MM-DD`, counted in whole days. */
const DAY_MS = 86_400_000
export function dayNumber(day: string): number {
  return Date.parse(`${day}T00:00:00Z`) / DAY_MS
}

/** A first and a last day, both included; without a last one: to this day. */
type Days = { readonly from: string; readonly to?: string | undefined }

/** Who is covered beside the member, by the code of the relationship in an 834. */
export type Covered = Days & { readonly who: '01' | '19' }

/** What a month costs by who is covered: the member alone, with a spouse, with children, with both. */
export type Cents = readonly [me: number, mespouse: number, mechildren: number, family: number]

/** The coverage levels of an 834, in the same order. */
const levels = ['EMP', 'ESP', 'ECH', 'FAM'] as const

/** A time for which a person held a benefit (`name`) or an offer (`isOffer`). */
export type Held = Days & {
  readonly name: string
  readonly isOffer: boolean
  /** What the person, or for an offer the partner, pays a month; what the insurer gets; whose it is. */
  readonly cents: Cents
  readonly premium: Cents
  readonly insurer: string
  /** Of a benefit for families. */
  readonly covered?: readonly Covered[]
}

/** The place of the tier on a day. */
function tierOn(day: number, covered: readonly Covered[]): 0 | 1 | 2 | 3 {
  const has = (code: Covered['who']) =>
    covered.some(
      ({ who, from, to }) =>
        who === code && dayNumber(from) <= day && (to === undefined || day <= dayNumber(to)),
    )
  return has('01') ? (has('19') ? 3 : 1) : has('19') ? 2 : 0
}

/** A person of the script. */
export type Life = {
  readonly userid: string
  /** The first month of an import; what was before was charged elsewhere. */
  readonly chargedFrom?: string
  readonly held: readonly Held[]
}

/** What one month of one thing comes to: at the tier of its first day, first and last months by days, half up; all others whole. */
function centsIn(month: string, held: Held, prices: Cents): number {
  const [first, last] = edgesOf(month)
  const from = Math.max(dayNumber(held.from), first)
  const to = Math.min(held.to === undefined ? last : dayNumber(held.to), last)
  if (to < from) return 0
  const cents = prices[tierOn(from, held.covered ?? [])]
  const days = last - first + 1
  const isFirst = dayNumber(held.from) >= first
  const isLast = held.to !== undefined && dayNumber(held.to) <= last
  return isFirst || isLast ? Math.floor((2 * cents * (to - from + 1) + days) / (2 * days)) : cents
}

function edgesOf(month: string): readonly [number, number] {
  const first = dayNumber(`${month}-01`)
  const next = dayNumber(`${new Date((first + 31) * DAY_MS).toISOString().slice(0, 7)}-01`)
  return [first, next - 1]
}

/** The sums of a month: of what people pay, of what the partner pays, and of what each insurer gets. */
export function recount(lives: readonly Life[], months: readonly string[]): Record<string, number> {
  const sums: Record<string, number> = {}
  const add = (key: string, cents: number) => {
    if (cents !== 0) sums[key] = (sums[key] ?? 0) + cents
  }
  for (const month of months)
    for (const { userid, chargedFrom = '', held } of lives.filter(
      life => (life.chargedFrom ?? '') <= month,
    )) {
      if (chargedFrom > month) continue
      for (const one of held) {
        add(`${month} ${userid} ${one.name}`, centsIn(month, one, one.cents))
        if (!one.isOffer) add(`${month} ${one.insurer}`, centsIn(month, one, one.premium))
      }
    }
  return sums
}

/** A line of a feed's file as an insurer reads it. */
export type ReadLine = {
  readonly action: string
  readonly id: string
  /** The code of the relationship; of the member ''. */
  readonly who: '' | Covered['who']
  readonly benefit: string
  readonly from: string
  readonly to: string
  /** The coverage level of the benefit, where the file has one. */
  readonly level: string
}

/** What an insurer knows of one cover; the level counts while the cover goes on. */
function coverText(line: Omit<ReadLine, 'action'>): string {
  const { id, who, benefit, from, to, level } = line
  return [id, who, benefit, from, to || level].join(' ').trim()
}

/** What the insurer of a benefit must know of it at the end: the member, and each other person who was ever covered. */
export function coversOf(id: string, { name: benefit, from, to = '', covered }: Held): string[] {
  const of = { id, benefit, level: covered ? levels[tierOn(Number.POSITIVE_INFINITY, covered)] : '' }
  return [
    coverText({ ...of, who: '', from, to }),
    ...(covered ?? []).map(one => coverText({ ...of, who: one.who, from: one.from, to: one.to ?? '' })),
  ]
}

/** An insurer that believes what it accepts, and nothing else: who is covered from when to when. */
export function openInsurer() {
  const covers = new Map<string, ReadLine[]>()
  return {
    take(line: ReadLine): void {
      const { action, id, who, benefit, from } = line
      const name = `${id} ${who} ${benefit}`
      const known = covers.get(name) ?? []
      const at = known.findIndex(one => one.from === from)
      // A corrected first day belongs to the newest cover.
      const found = at >= 0 ? at : action === 'correct' ? known.length - 1 : -1
      if (action === 'void') known.splice(found, 1)
      else if (found >= 0) known[found] = line
      else known.push(line)
      covers.set(name, known)
    },
    covers: () => [...covers.values()].flatMap(all => all.map(coverText)).sort(),
  }
}
