import { isRealDate, type PlainDate } from '../calendar/calendar.ts'
import { OperatorError } from '../operator-error.ts'
import { isUuid } from '../vault/uuid.ts'
import { segmentsIn } from './answers-x12.ts'
import { type ListedCover, SOME_DEPENDANT } from './compare-list.ts'
import type { Feed } from './feed.ts'

/**
 * The covers of an 834 file that an insurer wrote of its own members: one for each coverage of an insurance line that the feed
 * has. Throws OperatorError for a file that is none.
 */
export function readX12List(text: string, { feed, x12834 }: Feed): ListedCover[] {
  if (!x12834) throw new OperatorError(`The feed ${feed} is no 834 feed: its insurer's list is a CSV file.`)
  const segments = segmentsIn(text)
  if (!segments.some(([id, set]) => id === 'ST' && set === '834'))
    throw new OperatorError('The file has no 834: it is no list of members.')
  const benefits = new Map(Object.entries(x12834.lines).map(([benefit, code]) => [code, benefit]))
  const covers: ListedCover[] = []
  let member = { serviceId: '', memberId: '', person: '', details: {} as Record<string, string> }
  let isOurs = false
  for (const [id, first = '', second = '', third = '', fourth = '', , , , , ninth = ''] of segments) {
    const last = covers.at(-1)
    if (id === 'INS') {
      // A dependant has the member's numbers, and none of our ids.
      member = { serviceId: '', memberId: '', person: first === 'N' ? SOME_DEPENDANT : '', details: {} }
      isOurs = false
    } else if (id === 'REF' && first === '0F') {
      if (isUuid(second.toLowerCase())) member.serviceId = second.toLowerCase()
      else member.memberId ||= second
    } else if (id === 'REF' && first === '23') member.memberId = second
    else if (id === 'NM1' && first === 'IL') {
      member.details = { lastname: third, firstname: fourth }
      member.memberId ||= ninth
    } else if (id === 'DMG') member.details['dob'] = dateOf(second)
    else if (id === 'HD') {
      const benefit = benefits.get(third)
      isOurs = benefit !== undefined
      if (benefit !== undefined) covers.push({ ...member, benefit, startsOn: '', endsOn: '' })
    } else if (id === 'DTP' && isOurs && last) {
      if (first === '348') covers[covers.length - 1] = { ...last, startsOn: dateOf(third) }
      if (first === '349') covers[covers.length - 1] = { ...last, endsOn: dateOf(third) }
    }
  }
  return covers
}

/** A date written `20270512`; `''` for what is none. */
function dateOf(text: string): PlainDate | '' {
  const date = text.replace(/^(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3')
  return isRealDate(date) ? date : ''
}
