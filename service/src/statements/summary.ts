import type { Line } from './lines.ts'
import type { UserLine } from './store.ts'

type Amounts = { personcents: number; partnercents: number; insurercents: number }

/** What the lines about one offer or benefit come to. */
export type NameTotals = Amounts & {
  readonly kind: 'benefit' | 'offer' | 'adjustment'
  /** Of the benefit, else of the offer. */
  readonly name: string
  readonly insurer: string
  /** Who takes what the person pays; `""` where they pay nothing. */
  readonly takenby: Line['takenby']
  lines: number
}

/** What lines come to; `personcents` in all is what the partner takes, and `insurertakescents` what insurers take themselves. */
export type Summary = {
  readonly totals: Readonly<Amounts> & { readonly users: number; readonly insurertakescents: number }
  /** By offer, benefit and insurer. */
  readonly byName: readonly Readonly<NameTotals>[]
}

/** Adds up lines that come in the order of users. */
export function openSummary(): {
  readonly add: (lines: readonly UserLine[]) => void
  readonly summary: () => Summary
} {
  const totals = { users: 0, personcents: 0, partnercents: 0, insurercents: 0, insurertakescents: 0 }
  const found = new Map<string, NameTotals>()
  let lastUser = ''
  return {
    add: lines => {
      for (const { serviceId, line } of lines) {
        const { kind, offer, insurer, takenby } = line
        const name = line.name || offer
        const key = `${kind} ${name} ${insurer} ${takenby}`
        const none = { lines: 0, personcents: 0, partnercents: 0, insurercents: 0 }
        const one = found.get(key) ?? { kind, name, insurer, takenby, ...none }
        found.set(key, one)
        one.lines += 1
        add(one, line)
        add(totals, takenby === 'partner' ? line : { ...line, personcents: 0 })
        if (takenby === 'insurer') totals.insurertakescents += line.personcents
        if (serviceId !== lastUser) totals.users += 1
        lastUser = serviceId
      }
    },
    summary: () => ({
      totals,
      byName: [...found.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one),
    }),
  }
}

function add(sum: Amounts, { personcents, partnercents, insurercents }: Readonly<Amounts>): void {
  sum.personcents += personcents
  sum.partnercents += partnercents
  sum.insurercents += insurercents
}

/** Cents as people read them. */
export function dollars(cents: number): string {
  return `${cents < 0 ? '-' : ''}$${(Math.abs(cents) / 100).toFixed(2)}`
}
