import { OperatorError } from '../operator-error.ts'
import { readCsv } from '../read-csv.ts'
import { delimiterOf, type Feed } from './feed.ts'

/** What an insurer answers about one line: where it is, whether it was accepted, and what was said. */
export type GivenAnswer = {
  /** The run that the file itself names; `undefined`: it names none. */
  readonly run: number | undefined
  /** Its number in the run. Without it the newest line of the person and benefit is meant. */
  readonly line: number | undefined
  readonly serviceId: string
  readonly benefit: string
  /** The dependant whom it is about, `''` for the member; `undefined`: it does not say whom. */
  readonly person?: string | undefined
  readonly isAccepted: boolean
  readonly code: string
  readonly text: string
  readonly memberId: string
}

/**
 * The answers of a CSV file, by the columns of the feed. Throws OperatorError when the feed does not say how answers look, a
 * column is missing, a line says nothing about whom it answers, or the file may have been cut.
 */
export function readCsvAnswers(text: string, own: Feed): GivenAnswer[] {
  const { feed, answers, columns = [] } = own
  if (!answers)
    throw new OperatorError(`The feed ${feed} does not say how answers look: add \`answers\` to it.`)
  const benefitCodes = columns.find(({ value }) => value === 'benefit')?.codes ?? {}
  const benefitOf = new Map(Object.entries(benefitCodes).map(([benefit, code]) => [code, benefit]))
  const rows = readTable(text, answers.columns, delimiterOf(own))
  // Half a code may be another code, and half a number another line.
  if (!/\n$/.test(text))
    throw new OperatorError(
      'The file ends without a line end, so its last line may have been cut. Nothing of it was taken; if it is whole, add a line end.',
    )
  return rows.map(({ at, cell }) => {
    const line = cell('line').trim()
    const code = cell('code').trim()
    const benefit = cell('benefit').trim()
    const serviceId = cell('serviceid').trim().toLowerCase()
    if (!/^\d{1,9}$/.test(line) && serviceId === '')
      throw new OperatorError(
        `Line ${at} of the answers says neither which line nor which serviceid it answers.`,
      )
    return {
      run: undefined,
      line: /^\d{1,9}$/.test(line) ? Number(line) : undefined,
      serviceId,
      benefit: benefitOf.get(benefit) ?? benefit,
      ...('dependantid' in answers.columns && { person: cell('dependantid').trim().toLowerCase() }),
      isAccepted: answers.accepted.includes(code),
      code: code.slice(0, 100),
      text: cell('text').trim().slice(0, 500),
      memberId: cell('memberid').trim().slice(0, 100),
    }
  })
}

/** One row of a table: where it is, and its cells by our names of the columns; `''` for a column that it does not have. */
type TableRow = { readonly at: number; readonly cell: (name: string) => string }

/**
 * The rows of a CSV text whose header names these columns. Throws OperatorError when one is missing or there twice, and for a
 * file that seems cut: each row has as many cells as the header, and closes its quotes.
 */
export function readTable(
  text: string,
  columns: Readonly<Record<string, string>>,
  delimiter: string,
): TableRow[] {
  const [header, ...rows] = [...readCsv(text, delimiter)]
  const names = (header?.cells ?? []).map(name => name.trim())
  const wanted = Object.values(columns)
  const twice = wanted.find(name => names.indexOf(name) !== names.lastIndexOf(name))
  if (twice !== undefined)
    throw new OperatorError(`The header of the file has ${twice} twice; correct the file.`)
  const missing = wanted.filter(name => !names.includes(name))
  if (missing.length > 0)
    throw new OperatorError(
      `The header of the file lacks ${missing.join(', ')}; correct the file or the feed.`,
    )
  const broken = rows.find(({ cells, isBroken }) => isBroken || cells.length !== names.length)
  if (broken)
    throw new OperatorError(
      `Line ${broken.line} of the file has other cells than its header: the file may have been cut. Nothing of it was taken.`,
    )
  const indexes = new Map(Object.entries(columns).map(([ours, theirs]) => [ours, names.indexOf(theirs)]))
  return rows.map(({ line, cells }) => ({
    at: line,
    cell: name => {
      const index = indexes.get(name)
      return (index === undefined ? undefined : cells[index]) ?? ''
    },
  }))
}
