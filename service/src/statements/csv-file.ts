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
export function csvOf(pages: AsyncIterable<readonly ShownLine[]>): AsyncGenerator<string> {
  return fileOf(pages, [], () => [])
}

/** The same with what only the operator sees: the premium, and whose it is. */
export function operatorCsvOf(pages: AsyncIterable<readonly ShownLine[]>): AsyncGenerator<string> {
  return fileOf(pages, ['insurercents', 'insurer'], ({ line }) => [line.insurercents, line.insurer])
}

/** What the operator sees, without `moredetails`, for a spreadsheet: with an apostrophe before what that would run as a formula. */
export async function* deskCsvOf(pages: AsyncIterable<readonly PlacedLine[]>): AsyncGenerator<string> {
  yield `${csvLine([...columns, 'insurercents', 'insurer', 'days'])}\r\n`
  for await (const lines of pages)
    yield lines
      .map(one => {
        const { line } = one
        const cells = wireLine({ ...one, userid: one.userid ?? '', moredetails: {} })
        return `${csvLine([...columns.map(name => cells[name]), line.insurercents, line.insurer, cells.days])}\r\n`
      })
      .join('')
}

async function* fileOf(
  pages: AsyncIterable<readonly ShownLine[]>,
  more: readonly string[],
  moreOf: (shown: ShownLine) => readonly (string | number)[],
): AsyncGenerator<string> {
  yield `${plainCsvLine([...columns, 'moredetails', ...more, 'days'])}\r\n`
  for await (const lines of pages) {
    let text = ''
    for (const shown of lines) {
      const line = wireLine(shown)
      text += `${plainCsvLine([...columns.map(name => line[name]), JSON.stringify(line.moredetails), ...moreOf(shown), line.days])}\r\n`
    }
    if (text !== '') yield text
  }
}
