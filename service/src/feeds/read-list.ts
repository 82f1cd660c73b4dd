import { isRealDate, type PlainDate } from '../calendar/calendar.ts'
import { OperatorError } from '../operator-error.ts'
import { isUuid } from '../vault/uuid.ts'
import { readTable } from './answers-csv.ts'
import { isX12 } from './answers-x12.ts'
import { type ListedCover, SOME_DEPENDANT } from './compare-list.ts'
import { CSV_DEFAULTS, delimiterOf, type Feed, isWholeDate } from './feed.ts'
import { readX12List } from './read-x12-list.ts'

/**
 * The rows of an insurer's own list, as it looks today: an 834 file, or CSV by the columns of the feed. Throws OperatorError for what
 * cannot be read.
 */
export function readInsurerList(text: string, feed: Feed, today: PlainDate): ListedCover[] {
  if (isX12(text)) return readX12List(text, feed)
  const { list, columns = [], csv } = feed
  if (!list)
    throw new OperatorError(
      `The feed ${feed.feed} does not say how the insurer's list looks: add \`list\` to it.`,
    )
  const codes = columns.find(({ value }) => value === 'benefit')?.codes ?? {}
  const benefitOf = new Map(Object.entries(codes).map(([benefit, code]) => [code, benefit]))
  const formsOf = (name: string): readonly string[] => [
    ...columns.flatMap(({ value, form = '' }) => (value === name && isWholeDate(form) ? [form] : [])),
    csv?.dates ?? CSV_DEFAULTS.dates,
  ]
  return readTable(text, list.columns, delimiterOf(feed)).map(({ at, cell }) => {
    const date = (name: string, latest?: PlainDate) =>
      readDate(cell(name).trim(), {
        forms: formsOf(name),
        where: `Line ${at} of the list: ${list.columns[name]}`,
        latest,
      })
    const benefit = cell('benefit').trim()
    return {
      serviceId: cell('serviceid').trim().toLowerCase(),
      memberId: cell('memberid').trim(),
      benefit: benefitOf.get(benefit) ?? benefit,
      ...('dependantid' in list.columns && { person: personIn(cell('dependantid').trim().toLowerCase()) }),
      startsOn: date('startson'),
      endsOn: 'endson' in list.columns ? date('endson') : undefined,
      details: { firstname: cell('firstname'), lastname: cell('lastname'), dob: date('dob', today) },
    }
  })
}

function personIn(dependantId: string): string {
  return dependantId === '' || isUuid(dependantId) ? dependantId : SOME_DEPENDANT
}

/**
 * A date in one of these forms, such as `MM/DD/YYYY`, or as `YYYY-MM-DD`; `''` stays empty. Two digits of a year are of this
 * century, where that is not after `latest`, else of the last one. Throws OperatorError for anything else.
 */
function readDate(
  text: string,
  of: { readonly forms: readonly string[]; readonly where: string; readonly latest?: PlainDate | undefined },
): PlainDate | '' {
  if (text === '' || isRealDate(text)) return text
  for (const form of of.forms) {
    const date = dateIn(text, form, of.latest)
    if (date) return date
  }
  throw new OperatorError(`${of.where} is no date of the form ${of.forms.join(' or ')}.`)
}

function dateIn(text: string, form: string, latest: PlainDate | undefined): PlainDate | undefined {
  const names: readonly string[] = form.match(/YYYY|YY|MM|DD/g) ?? []
  const pattern = form
    .replace(/[.]/g, '\\.')
    .replace(/YYYY/, '(\\d{4})')
    .replace(/YY|MM|DD/g, '(\\d{2})')
  const found = new RegExp(`^${pattern}$`).exec(text)
  const part = (name: string) => found?.[names.indexOf(name) + 1] ?? ''
  const inYear = (year: string) => `${year}-${part('MM')}-${part('DD')}`
  const near = inYear(names.includes('YYYY') ? part('YYYY') : `20${part('YY')}`)
  const isTooLate = !names.includes('YYYY') && latest !== undefined && near > latest
  const date = isTooLate ? inYear(`19${part('YY')}`) : near
  return found && isRealDate(date) ? date : undefined
}
