import { csvLine, plainCsvLine } from '../csv.ts'
import { type PlacedLine, type ShownLine, wireLine } from './pages.ts'

const columns = [
  'userid',
  'serviceid',
  'kind',
  'name',
  'offer',
  'fromdate',
  'todate',
  'personcents',
  'takenby',
  'partnercents',
  'about',
] as const

/** The lines of a month as one CSV file, written page by page: the members of the API, `moredetails` as a JSON object. */
export function csvOf(pages: AsyncIterable<readonly ShownLine[]>, withTier: boolean): AsyncGenerator<string> {
  return fileOf(pages, { more: [], moreOf: () => [], withTier })
}

/** The same with what only the operator sees: the premium, and whose it is. */
export function operatorCsvOf(
  pages: AsyncIterable<readonly ShownLine[]>,
  withTier: boolean,
): AsyncGenerator<string> {
  const more = ['insurercents', 'insurer']
  return fileOf(pages, { more, moreOf: ({ line }) => [line.insurercents, line.insurer], withTier })
}

/** What the operator sees, without `moredetails`, for a spreadsheet: with an apostrophe before what that would run as a formula. */
export async function* deskCsvOf(
  pages: AsyncIterable<readonly PlacedLine[]>,
  withTier: boolean,
): AsyncGenerator<string> {
  yield `${csvLine([...columns, 'insurercents', 'insurer', 'days', ...(withTier ? ['tier'] : [])])}\r\n`
  for await (const lines of pages)
    yield lines
      .map(one => {
        const { line } = one
        const cells = wireLine({ ...one, userid: one.userid ?? '', moredetails: {} })
        return `${csvLine([...columns.map(name => cells[name]), line.insurercents, line.insurer, cells.days, ...(withTier ? [cells.tier ?? ''] : [])])}\r\n`
      })
      .join('')
}

async function* fileOf(
  pages: AsyncIterable<readonly ShownLine[]>,
  {
    more,
    moreOf,
    withTier,
  }: {
    readonly more: readonly string[]
    readonly moreOf: (shown: ShownLine) => readonly (string | number)[]
    /** Whether any line has a tier: then the last column is `tier`. */
    readonly withTier: boolean
  },
): AsyncGenerator<string> {
  yield `${plainCsvLine([...columns, 'moredetails', ...more, 'days', ...(withTier ? ['tier'] : [])])}\r\n`
  for await (const lines of pages) {
    let text = ''
    for (const shown of lines) {
      const line = wireLine(shown)
      text += `${plainCsvLine([...columns.map(name => line[name]), JSON.stringify(line.moredetails), ...moreOf(shown), line.days, ...(withTier ? [line.tier ?? ''] : [])])}\r\n`
    }
    if (text !== '') yield text
  }
}
