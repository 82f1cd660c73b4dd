import type { Line } from './lines.ts'

/**
 * The adjustments that make what was final about a month into what is true of it now, for one user: for each thing the
 * difference, where there is one (contract §16). `final` are the final lines about the month, adjustments included.
 */
export function adjustments(now: readonly Line[], final: readonly Line[], about: string): Line[] {
  const differences = new Map<string, Line>()
  const add = (line: Line, sign: 1 | -1) => {
    const key = thingOf(line)
    const { personcents = 0, partnercents = 0, insurercents = 0 } = differences.get(key) ?? {}
    // The dates and the offer are those that are true now; of what is no longer true at all, those of the final line.
    const shown = sign === 1 || !differences.has(key) ? line : (differences.get(key) ?? line)
    differences.set(key, {
      ...shown,
      days: sign === 1 ? line.days : (differences.get(key)?.days ?? 0),
      kind: 'adjustment',
      about,
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
function thingOf({ name, offer, takenby, insurer }: Line): string {
  return [name === '' ? offer : name, takenby, insurer].join()
}
