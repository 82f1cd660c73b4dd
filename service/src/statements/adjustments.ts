import type { Line } from './lines.ts'

/**
 * The adjustments that make what was final about a month into what is true of it now, for one user: for each thing the
 * difference, where there is one (contract §16). `final` are the final lines about the month, adjustments included.
 */
export function adjustments(now: readonly Line[], final: readonly Line[], about: string): Line[] {
  const present = new Map(now.map(line => [nameOf(line), line]))
  const differences = new Map<string, Line>()
  const add = (line: Line, sign: 1 | -1) => {
    const key = thingOf(line)
    const before = differences.get(key)
    const { personcents = 0, partnercents = 0, insurercents = 0 } = before ?? {}
    // The adjustment has the offer, days and tier of today's line of that name; where there is none any more, those of the final line.
    const shown = present.get(nameOf(line)) ?? before ?? { ...line, days: 0 }
    differences.set(key, {
      ...shown,
      kind: 'adjustment',
      about,
      takenby: line.takenby,
      insurer: line.insurer,
      personcents: personcents + sign * line.personcents,
      partnercents: partnercents + sign * line.partnercents,
      insurercents: insurercents + sign * line.insurercents,
    })
  }
  for (const line of now) add(line, 1)
  for (const line of final) add(line, -1)
  return [...differences.values()].filter(
    ({ personcents, partnercents, insurercents }) =>
      personcents !== 0 || partnercents !== 0 || insurercents !== 0,
  )
}

/** What amounts are compared about: a benefit or an offer, and who takes and who gets the money. */
function thingOf(line: Line): string {
  return [nameOf(line), line.takenby, line.insurer].join()
}

function nameOf({ name, offer }: Line): string {
  return name === '' ? offer : name
}
