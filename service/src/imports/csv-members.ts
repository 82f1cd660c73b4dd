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

/** The member of a row, in the form of a line of JSON; an item of a list that is not of its form fails like one of JSON. */
export function memberOf(header: Header, cells: readonly string[]): unknown {
  const given = new Map(header.map((name, index) => [name, cells[index] ?? '']))
  const pick = (names: readonly string[]) =>
    Object.fromEntries(names.flatMap(name => (given.get(name) ? [[name, given.get(name)]] : [])))
  const evidence = given.get('consentevidence') ?? ''
  const details = header.flatMap(name => {
    const [, own] = detail.exec(name) ?? []
    return own && given.get(name) ? [[own, given.get(name)]] : []
  })
  const address = pick(addressFields)
  return {
    ...pick(topFields),
    ...(Object.keys(address).length > 0 && { address }),
    ...(details.length > 0 && { moredetails: Object.fromEntries(details) }),
    benefits: itemsOf(given.get('benefits')).map(readBenefit),
    consents: itemsOf(given.get('consents')).map(text => readConsent(text, evidence)),
  }
}

function itemsOf(cell = ''): string[] {
  return cell
    .split(';')
    .map(item => item.trim())
    .filter(item => item !== '')
}

function readBenefit(text: string) {
  const [, name, more, startson, memberid] = /^([^@#]*)(@?([^#]*)(?:#(.*))?)$/s.exec(text) ?? []
  return { name, ...(more && { startson: startson || 'none', ...(memberid !== undefined && { memberid }) }) }
}

function readConsent(text: string, evidence: string) {
  const [, name, version, agreedat] = /^([^/]*)\/([^@]*)@(.*)$/s.exec(text) ?? [text, text, '', '']
  return { name, version, agreedat, evidence }
}
