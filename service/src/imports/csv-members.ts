import { OperatorError } from '../operator-error.ts'

/** The names of a file's columns, in their order. */
export type Header = readonly string[]

const topFields = [
  'userid',
  'firstname',
  'lastname',
  'email',
  'zipcode',
  'state',
  'dob',
  'phone',
  'gender',
  'offername',
  'offersince',
  'partnername',
]
const addressFields = ['addline1', 'addline2', 'addline3', 'city']
const lists = ['benefits', 'consents', 'consentevidence']
const known: ReadonlySet<string> = new Set([...topFields, ...addressFields, ...lists])
const detail = /^moredetails\.([a-z0-9]{1,32})$/

/**
 * Reads the header of a CSV file. Throws OperatorError for a column that is unknown or there twice. It is named where the line
 * is a header, as `userid` in it shows; where a header was forgotten, the name would be a person's.
 */
export function readHeader(cells: readonly string[]): Header {
  const names = cells.map(cell => cell.trim())
  for (const [index, name] of names.entries()) {
    const shown = names.includes('userid') && /^[A-Za-z][\w. -]{0,39}$/.test(name) ? ` (${name})` : ''
    const where = `Column ${index + 1}${shown} of the first line`
    if (!known.has(name) && !detail.test(name))
      throw new OperatorError(
        `${where} has a name that is not known: the first line must be a header with ${[...known].join(', ')} or moredetails.NAME.`,
      )
    if (names.indexOf(name) !== index) throw new OperatorError(`${where} is there twice.`)
  }
  if (!names.includes('userid')) throw new OperatorError('The first line has no column userid.')
  return names
}

/** The member of a row, in the form of a line of JSON; a list that cannot be read is refused by its field. */
export function memberOf(
  header: Header,
  cells: readonly string[],
): { readonly member: unknown } | { readonly faults: readonly { field: string; code: string }[] } {
  const given = new Map(header.map((name, index) => [name, cells[index] ?? '']))
  const pick = (names: readonly string[]) =>
    Object.fromEntries(names.flatMap(name => (given.get(name) ? [[name, given.get(name)]] : [])))
  const benefits = itemsOf(given.get('benefits')).map(readBenefit)
  const evidence = given.get('consentevidence') ?? ''
  const consents = itemsOf(given.get('consents')).map(text => readConsent(text, evidence))
  const faults = Object.entries({ benefits, consents }).flatMap(([field, items]) =>
    items.flatMap((item, at) => (item === undefined ? [{ field: `${field}[${at}]`, code: 'format' }] : [])),
  )
  if (faults.length > 0) return { faults }
  const details = header.flatMap(name => {
    const [, own] = detail.exec(name) ?? []
    return own && given.get(name) ? [[own, given.get(name)]] : []
  })
  const address = pick(addressFields)
  return {
    member: {
      ...pick(topFields),
      ...(Object.keys(address).length > 0 && { address }),
      ...(details.length > 0 && { moredetails: Object.fromEntries(details) }),
      benefits,
      consents,
    },
  }
}

function itemsOf(cell = ''): string[] {
  return cell
    .split(';')
    .map(item => item.trim())
    .filter(item => item !== '')
}

function readBenefit(text: string) {
  const [, name, startson, memberid] = /^([^@#]+)(?:@(\d{4}-\d{2}-\d{2})(?:#(.+))?)?$/.exec(text) ?? []
  if (!name) return undefined
  return { name, ...(startson && { startson }), ...(memberid && { memberid }) }
}

function readConsent(text: string, evidence: string) {
  const [, name, version, agreedat] = /^([^/@]+)\/([^@]+)@(\d{4}-\d{2}-\d{2})$/.exec(text) ?? []
  return name ? { name, version, agreedat, evidence } : undefined
}
