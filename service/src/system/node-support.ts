/** The day on which each major of Node.js gets its last fixes, as its release schedule says; a later one is not known yet. */
const LAST_DAYS: Readonly<Record<string, string>> = {
  '20': '2026-04-30',
  '21': '2024-06-01',
  '22': '2027-04-30',
  '23': '2025-06-01',
  '24': '2028-04-30',
  '25': '2026-06-01',
  '26': '2029-04-30',
}

/** The day since which a version of Node.js, such as `v20.19.0`, gets no more fixes; `undefined`: it still gets them. */
export function nodeEndedOn(version: string, now: number): string | undefined {
  const day = LAST_DAYS[/^v(\d+)\./.exec(version)?.[1] ?? '']
  return day !== undefined && now > Date.parse(day) ? day : undefined
}
