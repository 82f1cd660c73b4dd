import type { PlainDate } from '../calendar/calendar.ts'

/** What differs between what we say of people and an insurer's own list. */
export const differenceKinds = ['missingthere', 'unknownhere', 'dates', 'details', 'twice'] as const
export type DifferenceKind = (typeof differenceKinds)[number]

/** Why a difference is set aside. */
export const ASIDE_REASONS = {
  insurermends: 'The insurer corrects it',
  listwrong: 'Only its list is wrong',
  formersystem: 'It is from before this service told the insurer',
  agreed: 'It was agreed to leave it so',
} as const
/** One of these reasons. */
export type AsideReason = keyof typeof ASIDE_REASONS

/** A reason of this name. */
export function asideReasonOf(name: string | null | undefined): AsideReason | undefined {
  return name != null && Object.hasOwn(ASIDE_REASONS, name) ? (name as AsideReason) : undefined
}

/** One difference: the person by our id and the insurer's, `''` where one is not known, and the benefit. */
export type Difference = { readonly serviceid: string; readonly memberid: string; readonly benefit: string }

/** All differences, by kind. */
export type Differences = Readonly<Record<DifferenceKind, readonly Difference[]>>

/** A person and benefit in one of the two lists; `details` has what both lists can have, `''` where one has it not. */
export type ListedCover = {
  readonly serviceId: string
  readonly memberId: string
  readonly benefit: string
  readonly startsOn: PlainDate | ''
  /** `undefined`: the list has no such column. */
  readonly endsOn: PlainDate | '' | undefined
  readonly details: Readonly<Record<string, string>>
}

/**
 * Compares what insurers were told and is in force with an insurer's own list. A row of the insurer is found by our id, else by
 * its member number; a benefit may be left out there, where the list is about one. `isOver` says whether an end lies behind: who
 * is over in both lists, or over here and gone there, differs in nothing.
 */
export function compareLists(
  here: readonly ListedCover[],
  there: readonly ListedCover[],
  isOver: (endsOn: ListedCover['endsOn']) => boolean,
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
    const ours = candidates.filter(one => row.benefit === '' || one.benefit === row.benefit)
    // The newest period of cover comes last.
    const own = ours.find(one => one.startsOn === row.startsOn) ?? ours.at(-1)
    if (!own) {
      if (!isOver(row.endsOn)) found.unknownhere.push(differenceOf(row))
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
    if (!seen.has(one) && !isOver(one.endsOn)) found.missingthere.push(differenceOf(one))
  return found
}

function differenceOf(one: ListedCover, row: ListedCover = one): Difference {
  return {
    serviceid: one.serviceId,
    memberid: one.memberId || row.memberId,
    benefit: one.benefit,
  }
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

/** Insurers write names in capitals and without accents. */
function folded(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').trim().toLowerCase()
}
