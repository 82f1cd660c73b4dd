import type { ShownLine } from './pages.ts'

type Amounts = { personcents: number; partnercents: number; insurercents: number }
/** What the lines about one offer or benefit come to. */
type NameTotals = Amounts & {
  readonly kind: 'benefit' | 'offer' | 'adjustment'
  /** Of the benefit, else of the offer. */
  readonly name: string
  readonly insurer: string
  lines: number
}

/** Adds up the lines of a month, by offer, benefit and insurer; `personcents` in all is what the partner takes. */
export async function summarize(
  pages: AsyncIterable<readonly ShownLine[]>,
): Promise<{ totals: Amounts & { users: number }; byName: NameTotals[] }> {
  const totals = { users: 0, personcents: 0, partnercents: 0, insurercents: 0 }
  const found = new Map<string, NameTotals>()
  let lastUser = ''
  for await (const page of pages)
    for (const { serviceId, line } of page) {
      const { kind, offer, insurer, takenby } = line
      const name = line.name || offer
      const key = `${kind} ${name} ${insurer}`
      const one = found.get(key) ?? {
        kind,
        name,
        insurer,
        lines: 0,
        personcents: 0,
        partnercents: 0,
        insurercents: 0,
      }
      found.set(key, one)
      one.lines += 1
      add(one, line)
      add(totals, takenby === 'partner' ? line : { ...line, personcents: 0 })
      if (serviceId !== lastUser) totals.users += 1
      lastUser = serviceId
    }
  return { totals, byName: [...found.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one) }
}

function add(sum: Amounts, { personcents, partnercents, insurercents }: Readonly<Amounts>): void {
  sum.personcents += personcents
  sum.partnercents += partnercents
  sum.insurercents += insurercents
}
