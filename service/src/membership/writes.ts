import type { EventName } from '@benefit-enrolment/contract'
import { formatTimestamp, type Instant } from '../calendar/calendar.ts'
import { uuidv4, uuidv7 } from '../vault/uuid.ts'
import type { Dossier } from './dossier.ts'
import type { Raised } from './events.ts'
import { linesOf, type Who } from './history.ts'
import type { Batch } from './save.ts'
import type { Step } from './settle.ts'
import type { User } from './state.ts'

/** What a batch has collected to be written. */
export type Writes = {
  renamed: Batch['renamed'][number][]
  changed: Map<string, Dossier>
  erased: Batch['erased'][number][]
  ended: Batch['ended'][number][]
  documents: Map<string, Batch['documents'][number]>
  history: Batch['history'][number][]
  events: Batch['events'][number][]
  consents: Batch['consents'][number][]
  staleKeys: Batch['staleKeys'][number][]
  keys: Batch['keys'][number][]
}

/** Nothing collected yet. */
export const noWrites = (): Writes => ({
  renamed: [],
  changed: new Map(),
  erased: [],
  ended: [],
  documents: new Map(),
  history: [],
  events: [],
  consents: [],
  staleKeys: [],
  keys: [],
})

/** Collects the history lines and the events of a step. */
export const noteStep = (writes: Writes, step: Step, by: { who: Who; why: string; real: Instant }): void => {
  const { before, after: user } = step
  const isOver = user.status === 'cancelled' || user.status === 'erased'
  if (isOver && before.status !== user.status) writes.ended.push({ user, at: by.real })
  for (const line of linesOf(step, by.who, by.why)) {
    writes.history.push({ ...line, id: uuidv7(by.real), user, recordedAt: by.real })
  }
  for (const event of step.events) {
    writes.events.push({
      id: uuidv7(by.real),
      user,
      eventname: event.eventname,
      idempotencyKey: uuidv4(),
      body: bodyOf(user, event),
      data: event.benefit === undefined ? {} : { name: event.benefit },
      createdAt: by.real,
    })
  }
}

/** The body of an event, in the order of the interface; these bytes are what is sent, on every try. */
const bodyOf = (user: User, event: Raised): Buffer =>
  Buffer.from(
    JSON.stringify({
      userid: user.userid,
      eventname: event.eventname satisfies EventName,
      currentofferdetails: {
        offer: event.offer,
        updatedat: formatTimestamp(event.updatedAt),
        serviceid: user.serviceId,
      },
    }),
  )

/** Everything collected, as one batch. */
export const batchOf = (writes: Writes): Batch => {
  const changed = [...writes.changed.values()]
  return {
    renamed: writes.renamed,
    users: changed.map(mine => ({
      user: mine.user,
      isNew: mine.stored === undefined,
      wrappedKey: mine.wrappedKey,
    })),
    erased: writes.erased,
    ended: writes.ended,
    enrolments: changed.flatMap(mine =>
      mine.user.enrolments
        .filter(enrolment => !mine.stored?.enrolments.includes(enrolment))
        .map(enrolment => ({ user: mine.user, enrolment })),
    ),
    consents: lastOnes(
      writes.consents,
      entry => `${entry.user.serviceId} ${entry.consent.name} ${entry.consent.version}`,
    ),
    documents: [...writes.documents.values()].filter(change => change.user.status !== 'erased'),
    history: writes.history,
    events: writes.events,
    staleKeys: writes.staleKeys,
    keys: writes.keys,
  }
}

const lastOnes = <T>(entries: readonly T[], nameOfEntry: (entry: T) => string): T[] => [
  ...new Map(entries.map(entry => [nameOfEntry(entry), entry])).values(),
]
