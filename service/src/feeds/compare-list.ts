import type { PlainDate } from '../calendar/calendar.ts'
import { plainText } from './encoding.ts'

/** What differs between what we say of people and an insurer's own list. */
export const differenceKinds = ['missingthere', 'unknownhere', 'dates', 'details', 'twice'] as const
export type DifferenceKind = (typeof differenceKinds)[number]

/** A value, such as `startson`, of which we say something else than the insurer; `''`: one of the two has none. */
export type Differing = { readonly value: string; readonly ours: string; readonly theirs: string }

/** One difference: the person by our id and the insurer's, `''` where one is not known, the benefit, and what is not the same. */
export type Difference = {
  readonly serviceid: string
  readonly memberid: string
  readonly benefit: string
  /** The dependant whom it is about; absent: the member. */
  readonly dependantid?: string
  readonly differs: readonly Differing[]
}

/** All differences, by kind. */
export type Differences = Readonly<Record<DifferenceKind, readonly Difference[]>>

/** A row is about a dependant and does not have our id. */
export const SOME_DEPENDANT = '?'

/** A person and benefit in one of the two lists; `details` has what both lists can have, `''` where one has it not. */
export type ListedCover = {
  readonly serviceId: string
  readonly memberId: string
  readonly benefit: string
  /** The dependant whom it covers, `''` for the member; `undefined`: an insurer's list does not say whom. */
  readonly person?: string | typeof SOME_DEPENDANT | undefined
  readonly startsOn: PlainDate | ''
  /** `undefined`: the list has no such column. */
  readonly endsOn: PlainDate | '' | undefined
  readonly details: Readonly<Record<string, string>>
}

/**
 * Compares what insurers were told and is in force with an insurer's own list. A row of the insurer is found by our id, else by
 * its member number; a benefit may be left out there, where the list is about one. Of a family the one is meant whose
 * dependantid it has, else first name or birth date. `isOver` says whether an end lies behind, of a cover of ours or of a row
 * about nobody: who is over in both lists, or over here and gone there, differs in nothing.
 */
export function compareLists<Here extends ListedCover>(
  here: readonly Here[],
  there: readonly ListedCover[],
  isOver: (endsOn: ListedCover['endsOn'], own?: Here) => boolean,
): Differences {
  const found: Record<DifferenceKind, Difference[]> = {
    missingthere: [],
    unknownhere: [],
    dates: [],
    details: [],
    twice: [],
  }
  const byId = new Map<string, ListedCover[]>()
  for (const one of here)
    for (const id of [one.serviceId, one.memberId].filter(id => id !== ''))
      byId.set(id, [...(byId.get(id) ?? []), one])
  const seen = new Map<ListedCover, ListedCover>()
  for (const row of there) {
    const candidates = byId.get(row.serviceId) ?? byId.get(row.memberId) ?? []
    const ours = meant(
      row,
      candidates.filter(one => row.benefit === '' || one.benefit === row.benefit),
      seen,
    )
    // The newest period of cover comes last.
    const own = ours.find(one => one.startsOn === row.startsOn) ?? ours.at(-1)
    if (!own) {
      if (!isOver(row.endsOn)) found.unknownhere.push(differenceOf(undefined, row))
      continue
    }
    if (seen.has(own)) {
      found.twice.push(differenceOf(own, row))
      continue
    }
    seen.set(own, row)
    if (differsInDates(own, row)) found.dates.push(differenceOf(own, row))
    else if (differsInDetails(own, row)) found.details.push(differenceOf(own, row))
  }
  for (const one of here)
    if (!seen.has(one) && !isOver(one.endsOn, one)) found.missingthere.push(differenceOf(one, undefined))
  return found
}

/** The covers that have a row already, each with its row. */
type Seen = ReadonlyMap<ListedCover, ListedCover>

/** Of a member and those whom the member's benefits cover, the covers of the one whom a row is about. */
function meant(row: ListedCover, covers: readonly ListedCover[], seen: Seen): readonly ListedCover[] {
  const isMember = ({ person = '' }: ListedCover) => person === ''
  if (row.person === SOME_DEPENDANT)
    return agreeing(
      row,
      covers.filter(one => !isMember(one)),
      seen,
    )
  if (row.person !== undefined) return covers.filter(({ person = '' }) => person === row.person)
  return covers.every(isMember) ? covers : agreeing(row, covers, seen)
}

/**
 * The covers of the one person whose first name and birth date agree best with a row; [] where nothing does. Of several, as twins
 * and somebody who left the list and came back, it is the one whose cover of that start, or who at all, has no row yet; else the newest.
 */
function agreeing(row: ListedCover, covers: readonly ListedCover[], seen: Seen): readonly ListedCover[] {
  const agreed = (one: ListedCover) =>
    ['firstname', 'dob'].filter(name => {
      const theirs = folded(row.details[name] ?? '')
      return theirs !== '' && theirs === folded(one.details[name] ?? '')
    }).length
  const most = Math.max(0, ...covers.map(agreed))
  if (most === 0) return []
  const equal = covers.filter(one => agreed(one) === most)
  const ofPerson = (of: ListedCover | undefined) => equal.filter(({ person }) => person === of?.person)
  return ofPerson(
    equal.findLast(one => one.startsOn === row.startsOn && !seen.has(one)) ??
      equal.findLast(one => !ofPerson(one).some(other => seen.has(other))) ??
      equal.at(-1),
  )
}

function differenceOf(own: ListedCover | undefined, row: ListedCover | undefined): Difference {
  const person = (own ?? row)?.person
  return {
    serviceid: own?.serviceId ?? row?.serviceId ?? '',
    memberid: own?.memberId || (row?.memberId ?? ''),
    benefit: own?.benefit ?? row?.benefit ?? '',
    ...(person && person !== SOME_DEPENDANT && { dependantid: person }),
    differs: differing(own && valuesOf(own), row && valuesOf(row)),
  }
}

function valuesOf({ startsOn, endsOn, details }: ListedCover): ReadonlyMap<string, string> {
  const end = endsOn === undefined ? [] : [['endson', endsOn] as const]
  return new Map([['startson', startsOn], ...end, ...Object.entries(details)])
}

/** The values of which both say something, and not the same; all that one has whom the other lacks. */
function differing(
  ours: ReadonlyMap<string, string> | undefined,
  theirs: ReadonlyMap<string, string> | undefined,
): Differing[] {
  return [...(ours ?? theirs ?? [])].flatMap(([value]) => {
    const [own = '', other = ''] = [ours?.get(value), theirs?.get(value)]
    if (!ours || !theirs) return own + other === '' ? [] : [{ value, ours: own, theirs: other }]
    const isSaid = theirs.has(value) && (other !== '' || value === 'endson')
    return isSaid && folded(own) !== folded(other) ? [{ value, ours: own, theirs: other }] : []
  })
}

/** A date that the insurer's list does not have is not compared. */
function differsInDates(own: ListedCover, row: ListedCover): boolean {
  const startDiffers = row.startsOn !== '' && row.startsOn !== own.startsOn
  return startDiffers || (row.endsOn !== undefined && row.endsOn !== own.endsOn)
}

function differsInDetails(own: ListedCover, row: ListedCover): boolean {
  return Object.entries(row.details).some(
    ([name, value]) => value !== '' && folded(value) !== folded(own.details[name] ?? ''),
  )
}

/** Insurers write names in capitals and in plain letters. A letter that has none stays, as it tells people apart. */
function folded(text: string): string {
  return plainText(text, 0x7e, letter => letter)
    .trim()
    .toLowerCase()
}
