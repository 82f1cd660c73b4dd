// What a quarter must come to, counted by a program that knows only what was done: who held what from when to when, at which
// price. It knows nothing of the service's own rules but what docs/month.md says.

/** A day as `YYYY-MM-DD`, counted in whole days. */
const DAY_MS = 86_400_000
export function dayNumber(day: string): number {
  return Date.parse(`${day}T00:00:00Z`) / DAY_MS
}

/** A time for which a person held a benefit (`name`) or an offer (`offer: true`): its first and last day, both included. */
export type Held = {
  readonly name: string
  readonly isOffer: boolean
  readonly from: string
  readonly to?: string
  /** What the person, or for an offer the partner, pays a month; what the insurer gets; whose it is. */
  readonly cents: number
  readonly premium: number
  readonly insurer: string
}

/** A person of the script. */
export type Life = {
  readonly userid: string
  /** The first month of an import; what was before was charged elsewhere. */
  readonly chargedFrom?: string
  readonly held: readonly Held[]
}

/** What one month of one thing comes to: first and last months by days, half up; all others whole. */
function centsIn(month: string, held: Held, cents: number): number {
  const [first, last] = edgesOf(month)
  const from = Math.max(dayNumber(held.from), first)
  const to = Math.min(held.to === undefined ? last : dayNumber(held.to), last)
  if (to < from) return 0
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
  readonly benefit: string
  readonly from: string
  readonly to: string
}

/** An insurer that believes what it accepts, and nothing else: who is covered from when to when. */
export function openInsurer() {
  const covers = new Map<string, { from: string; to: string }[]>()
  return {
    take({ action, id, benefit, from, to }: ReadLine): void {
      const name = `${id} ${benefit}`
      const known = covers.get(name) ?? []
      const at = known.findIndex(one => one.from === from)
      // A corrected first day belongs to the newest cover.
      const found = at >= 0 ? at : action === 'correct' ? known.length - 1 : -1
      if (action === 'void') known.splice(found, 1)
      else if (found >= 0) known[found] = { from, to }
      else known.push({ from, to })
      covers.set(name, known)
    },
    covers: () =>
      [...covers].flatMap(([name, all]) => all.map(({ from, to }) => `${name} ${from} ${to}`.trim())).sort(),
  }
}
