import type { Instant } from '../../calendar/calendar.ts'
import type { DocumentKind } from '../../membership/records/documents.ts'
import { type HistoryLine, linesOfDue } from '../../membership/rules/history.ts'
import { type Person, residenceOf } from '../../membership/rules/person.ts'
import { isKnown, type User } from '../../membership/rules/state.ts'
import type { Terms } from '../../membership/rules/terms.ts'
import { operatorNames } from '../../operators/store.ts'
import type { Partner } from '../../partners/partner.ts'
import { isUuid } from '../../vault/uuid.ts'
import { ownPartner } from '../partners.ts'
import { notHere, type OperatorVisit } from '../screen/screen.ts'
import { findUserRow, readChanges, readOperatorLinks, type StoredChange } from './store.ts'
import { type EventStory, readStories } from './stories.ts'

/** Everything that the console shows of one user. */
export type UserDetails = {
  readonly partner: Partner
  readonly serviceId: string
  readonly user: User
  readonly terms: Terms
  readonly now: Instant
  /** Newest first. */
  readonly changes: readonly Change[]
  /** Whether there are changes older than these. */
  readonly hasOlder: boolean
  /** Whether there are changes newer than these. */
  readonly hasNewer: boolean
  /** The data that the person entered or the partner sent; empty after an erasure. */
  readonly people: ReadonlyMap<DocumentKind, Person>
  /** The names of operators by their ids. */
  readonly operators: ReadonlyMap<string, string>
  /** The operators by name who made links for the user, by the ids of their sessions. */
  readonly linkMakers: ReadonlyMap<string, string>
}

/** One change of the user, with its events. */
export type Change = {
  readonly at: Instant
  readonly lines: readonly HistoryLine[]
  readonly events: readonly EventStory[]
  /** Absent: it is due, and not stored yet. */
  readonly stored?: StoredChange
}

/** An erased user, of whom no personal data is left. */
export type ErasedUserDetails = {
  readonly partner: Partner
  readonly serviceId: string
  readonly erasedAt: Instant
  readonly createdAt: Instant
}

const CHANGES_A_PAGE = 50

/** The user of a serviceid, or else of the address. Throws the refusal of an unknown user when the operator does not work for the partner. */
export async function openUserDetails(
  visit: OperatorVisit,
  serviceId = visit.params['serviceid'] ?? '',
  before = Number.MAX_SAFE_INTEGER,
): Promise<UserDetails | ErasedUserDetails> {
  const { database, reader } = visit.context
  const partners = [...visit.partnerNames.keys()]
  const row = isUuid(serviceId) ? await findUserRow(database, partners, serviceId) : undefined
  if (!row) throw notHere('user')
  const partner = await ownPartner(visit, row.partner_id)
  const erased = { partner, serviceId: row.service_id, createdAt: row.created_at }
  if (row.erased_at !== null) return { ...erased, erasedAt: row.erased_at }
  const reading = await reader.read(partner, row.userid)
  // Between the two reads the user may have been erased.
  if (!reading || reading.user.serviceId !== row.service_id)
    return { ...erased, erasedAt: visit.context.real() }
  const { user, now, dueChanges } = reading
  const [people, stored, operators, links] = await Promise.all([
    reader.documents(partner, user),
    readChanges(database, user, { before, limit: CHANGES_A_PAGE + 1 }),
    operatorNames(database),
    readOperatorLinks(database, user),
  ])
  const person = people.get('profile') ?? people.get('prefill')
  const terms = visit.context.terms(partner, () => (residenceOf(person) ? person : undefined))
  const shown = stored.slice(0, CHANGES_A_PAGE)
  const stories = await readStories(database, partner, { user, ids: shown.flatMap(one => one.event_ids) })
  const hasNewer = before !== Number.MAX_SAFE_INTEGER
  // Due changes that are not stored yet are shown as in the API: as having happened.
  const late = hasNewer ? [] : dueChanges.filter(change => change.at > (shown[0]?.at ?? 0))
  return {
    partner,
    serviceId: row.service_id,
    user,
    terms,
    now,
    people,
    operators,
    linkMakers: new Map(links.map(link => [link.session_id, operators.get(link.made_by) ?? link.made_by])),
    changes: [
      ...late.map(change => ({ at: change.at, lines: linesOfDue([change]), events: [] })).reverse(),
      ...shown.map(change => changeOf(change, stories)),
    ],
    hasOlder: stored.length > CHANGES_A_PAGE,
    hasNewer,
  }
}

/** The same; `undefined` for a user who was erased or is not known any more. */
export async function livingUserDetails(
  visit: OperatorVisit,
  serviceId?: string,
): Promise<UserDetails | undefined> {
  const details = await openUserDetails(visit, serviceId)
  return isErased(details) || !isKnown(details.user) ? undefined : details
}

/** Whether the user was erased. */
export function isErased(details: UserDetails | ErasedUserDetails): details is ErasedUserDetails {
  return 'erasedAt' in details
}

function changeOf(stored: StoredChange, stories: ReadonlyMap<string, EventStory>): Change {
  const { at, who, lines, event_ids } = stored
  return {
    at,
    lines: lines.map(line => ({ ...line, at, who })),
    events: event_ids.flatMap(id => stories.get(id) ?? []),
    stored,
  }
}
