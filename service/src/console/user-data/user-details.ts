import type { Instant } from '../../calendar/calendar.ts'
import type { DocumentKind } from '../../membership/records/sealed.ts'
import { type HistoryLine, linesOfDue } from '../../membership/rules/history.ts'
import type { Person } from '../../membership/rules/person.ts'
import { operatorNames } from '../../operators/store.ts'
import type { OperatorVisit } from '../screen/screen.ts'
import { type ErasedUser, isErased, type LivingUser, openUser } from './living-user.ts'
import { readChanges, readOperatorLinks, type StoredChange } from './store.ts'
import { type EventStory, readStories } from './stories.ts'

/** Everything that the console shows of one user. */
export type UserDetails = LivingUser & {
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

const CHANGES_A_PAGE = 50

/** The user of the address with a page of changes. Throws the refusal of an unknown user when the operator does not work for the partner. */
export async function openUserDetails(
  visit: OperatorVisit,
  before = Number.MAX_SAFE_INTEGER,
): Promise<UserDetails | ErasedUser> {
  const { database } = visit.context
  const found = await openUser(visit)
  if (isErased(found)) return found
  const { user, partner, dueChanges, ...rest } = found
  const [stored, operators, links] = await Promise.all([
    readChanges(database, user, { before, limit: CHANGES_A_PAGE + 1 }),
    operatorNames(database),
    readOperatorLinks(database, user),
  ])
  const shown = stored.slice(0, CHANGES_A_PAGE)
  const stories = await readStories(database, partner, { user, ids: shown.flatMap(one => one.event_ids) })
  const hasNewer = before !== Number.MAX_SAFE_INTEGER
  // Due changes that are not stored yet are shown as in the API: as having happened.
  const late = hasNewer ? [] : dueChanges.filter(change => change.at > (shown[0]?.at ?? 0))
  return {
    ...rest,
    partner,
    user,
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

function changeOf(stored: StoredChange, stories: ReadonlyMap<string, EventStory>): Change {
  const { at, who, lines, event_ids } = stored
  return {
    at,
    lines: lines.map(line => ({ ...line, at, who })),
    events: event_ids.flatMap(id => stories.get(id) ?? []),
    stored,
  }
}
