import { addDays, dateAt, type Instant, startOfDate, type Zone } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import type { ExecutorContext } from '../membership/command.ts'
import {
  dataKeyOf,
  type LoadedUser,
  loadedUserOf,
  loadUsersWithDocuments,
  personOf,
} from '../membership/reading/load.ts'
import { loadTold, readMemberIds, type Told } from '../membership/records/insurer-lines.ts'
import { readRecords, type UserIds } from '../membership/records/sealed.ts'
import { applyDueChanges } from '../membership/rules/apply-due.ts'
import {
  coveredOf,
  coversOf,
  MEMBER,
  personsOf,
  type TrueCover,
  withPendingCovers,
  worthBeside,
  worthSteps,
} from '../membership/rules/covers.ts'
import type { Dependant } from '../membership/rules/dependant.ts'
import {
  type InsurerLine,
  linesFor,
  nextDayToTell,
  restatedLines,
  stepOn,
} from '../membership/rules/insurer-lines.ts'
import { versionsOf } from '../membership/rules/state.ts'
import type { Partner } from '../partners/partner.ts'
import { type Feed, type LineValues, TIER_VALUES, valuesOf } from './feed.ts'
import { type LineReader, openLineReader, type Subject } from './values.ts'
import { FIRST_SERVICE_ID, findCandidates, type Learnt, type SeenRow } from './walk-store.ts'

/** A line that a run would send, before it has a number. */
export type DraftLine = {
  readonly user: UserIds
  readonly benefit: string
  /** Whom it is about; `''`: the member. */
  readonly person: string
  readonly line: InsurerLine<TrueCover>
  readonly values: LineValues
  readonly dataKey: Buffer
}

/** What a page of compared users comes to. */
export type ComparedPage = {
  readonly lines: readonly DraftLine[]
  readonly seen: readonly SeenRow[]
  /** Details that an insurer knows from a former system. */
  readonly learnt: readonly Learnt[]
}

/** What decides about people. */
export type WalkContext = Pick<ExecutorContext, 'terms' | 'prepareTerms'>

/** Which people are compared, of which feed, and as of which instant. */
export type Walk = {
  readonly partner: Partner
  readonly feed: Feed
  readonly now: Instant
  /** Whether everybody is compared, also whose version has been seen. */
  readonly everybody: boolean
  /** Whether lines that the insurer already has are sent again. */
  readonly full: boolean
}

/** How many users are opened at once. */
const OPENED = 250
const ENDS_STATED_FOR_DAYS = 90

/**
 * Compares a partner's users with what the insurer was told, page by page. Each user is taken as of one instant, with all
 * that is due by then applied.
 */
export async function* walkUsers(
  db: Executor,
  context: WalkContext,
  walk: Walk,
): AsyncGenerator<ComparedPage> {
  const { partner, feed, now, everybody } = walk
  const { partnerId } = partner
  const reader = openLineReader(feed)
  let after: string | undefined = FIRST_SERVICE_ID
  while (after !== undefined) {
    const { candidates, last } = await findCandidates(db, {
      partnerId,
      feed: feed.feed,
      after,
      now,
      everybody,
    })
    for (let start = 0; start < candidates.length; start += OPENED) {
      const names = candidates.slice(start, start + OPENED).map(({ userid }) => ({ partnerId, userid }))
      yield await comparePage(db, context, { walk, reader, names })
    }
    after = last
  }
}

async function comparePage(
  db: Executor,
  context: WalkContext,
  of: {
    readonly walk: Walk
    readonly reader: LineReader
    readonly names: readonly { partnerId: string; userid: string }[]
  },
): Promise<ComparedPage> {
  const { walk, reader, names } = of
  const { partner } = walk
  const loaded = (await loadUsersWithDocuments(db, names)).map(loadedUserOf)
  const ids = loaded.map(({ user }) => user.serviceId)
  const told = byUser(await loadTold(db, partner.partnerId, ids))
  const members = await readMemberIds(db, partner.partnerId, ids)
  await context.prepareTerms(loaded.flatMap(({ user }) => versionsOf(user)))
  const former = await readFormer(db, partner, loaded)
  const compared = loaded.map(mine => {
    const { serviceId } = mine.user
    const own = told.get(serviceId) ?? []
    const memberIdOf = members(dataKeyOf(mine, partner), mine.user)
    return compareUser(context, {
      walk,
      reader,
      mine,
      told: own,
      memberIdOf,
      former: former.get(serviceId) ?? [],
    })
  })
  return {
    lines: compared.flatMap(one => one.lines),
    seen: compared.map(one => one.seen),
    learnt: compared.flatMap(one => one.learnt),
  }
}

/** Those who are in no list of dependants any more, but were covered: as the newest list that had them named them. */
export async function readFormer(
  db: Executor,
  partner: Partner,
  loaded: readonly LoadedUser[],
): Promise<ReadonlyMap<string, readonly Dependant[]>> {
  const former = new Map<string, readonly Dependant[]>()
  for (const mine of loaded) {
    const listed = personOf(mine, partner, 'profile')?.dependants ?? []
    const isListed = (id: string) => listed.some(({ dependantid }) => dependantid === id)
    const { user } = mine
    if (user.enrolments.every(one => (one.covered ?? []).every(({ dependantId }) => isListed(dependantId))))
      continue
    const versions = await readRecords(db, { partner, user }, 'dependants')
    const lists = versions.sort((a, b) => Number(b.version) - Number(a.version))
    former.set(
      user.serviceId,
      lists.flatMap(one => one.content() as readonly Dependant[]),
    )
  }
  return former
}

function byUser(told: readonly Told[]): Map<string, Told[]> {
  const groups = new Map<string, Told[]>()
  for (const one of told) groups.set(one.serviceId, [...(groups.get(one.serviceId) ?? []), one])
  return groups
}

function compareUser(
  context: WalkContext,
  of: {
    readonly walk: Walk
    readonly reader: LineReader
    readonly mine: LoadedUser
    readonly told: readonly Told[]
    readonly memberIdOf: Subject['memberIdOf']
    readonly former: readonly Dependant[]
  },
) {
  const { reader, mine, memberIdOf, former } = of
  const { partner, feed, now, full } = of.walk
  const told = of.told.filter(({ insurer }) => insurer === feed.insurer)
  const person = () => personOf(mine, partner, 'profile')
  const terms = context.terms(partner, person)
  const due = applyDueChanges(mine.user, now, terms).at(-1)?.after ?? mine.user
  const user = withPendingCovers(due, terms)
  const today = dateAt(now, partner.timezone)
  const member: Subject = { partner, user, person: person() ?? {}, terms, today, memberIdOf }
  const horizon = { today, aheadDays: feed.aheaddays ?? 0 }
  const lastAt = startOfDate(addDays(today, horizon.aheadDays + 1), partner.timezone) - 1
  const showsWorth = valuesOf(feed).some(value => TIER_VALUES.includes(value))
  const dataKey = dataKeyOf(mine, partner)
  const compared = feed.benefits.map(benefit => {
    const known = told.filter(one => one.benefit === benefit)
    let numbered = Math.max(0, ...known.map(({ number }) => number))
    return personsOf(user, benefit, known).map(person => {
      const subject =
        person === MEMBER ? member : { ...member, dependant: dependantOf(member, person, former) }
      const truth = coversOf(user, benefit, partner.timezone, person).map(cover => {
        if (!showsWorth) return cover
        const steps = person === MEMBER ? worthSteps(cover, terms) : [worthBeside(cover, terms, lastAt)]
        return { ...cover, steps }
      })
      const imported = { reader, subject, zone: partner.timezone }
      const stored = known.filter(one => one.person === person)
      const ours = stored.map(one => asImported(one, truth, imported))
      const news = linesFor(ours, truth, {
        horizon,
        numbered,
        detailsOf: (one, step) => reader.fingerprint(subject, one, step),
        // Of what is over, the insurer of its own terms got the premium.
        counts: ({ enrolment }) =>
          terms.version(enrolment.version).benefits.get(benefit)?.insurer?.insurer === feed.insurer,
      })
      numbered = Math.max(numbered, ...news.map(({ number }) => number))
      const endsFrom = feed.endstatedfor ?? ENDS_STATED_FOR_DAYS
      const again = full ? restatedLines(ours, truth, { news, horizon, endsFrom }) : []
      const lines = [...news, ...again].flatMap((line): DraftLine[] => {
        const values = reader.values(subject, { ...line, benefit })
        return dataKey ? [{ user: mine.user, benefit, person, line, values, dataKey }] : []
      })
      const learnt = ours.flatMap(one =>
        stored.includes(one) || one.details === undefined ? [] : [{ ...one, details: one.details }],
      )
      return { person, truth, lines, learnt }
    })
  })
  const all = compared.flat()
  const next = nextDayToTell(
    all.flatMap(({ truth }) => truth),
    horizon,
  )
  // Readers of an 834 want a member before those whom the member's benefits cover.
  const inOrder = [...all.filter(isMember), ...all.filter(one => !isMember(one))]
  return {
    lines: inOrder.flatMap(({ lines }) => lines),
    seen: {
      serviceId: user.serviceId,
      version: mine.readVersion,
      lookAt: next === undefined ? undefined : startOfDate(next, partner.timezone),
    },
    learnt: all.flatMap(({ learnt }) => learnt),
  }
}

function isMember({ person }: { readonly person: string }): boolean {
  return person === MEMBER
}

function dependantOf(
  { person, user }: Subject,
  id: string,
  former: readonly Dependant[],
): Subject['dependant'] {
  const isOne = ({ dependantid }: Dependant) => dependantid === id
  const listed = person.dependants?.find(isOne) ?? former.find(isOne)
  if (listed) return listed
  return { dependantid: id, relationship: coveredOf(user, id)?.relationship ?? 'child' }
}

/**
 * What a former system had told of a cover, as it was on the day of the import: its tier by the enrolment's own days. What it told
 * of the person is not kept: details of one whose data was written since count as changed, and others are those of today.
 */
function asImported(
  one: Told,
  truth: readonly TrueCover[],
  { reader, subject, zone }: { readonly reader: LineReader; readonly subject: Subject; readonly zone: Zone },
): Told {
  const cover = truth.find(({ startsOn }) => startsOn === one.startsOn)
  if (one.details !== undefined || one.isVoid || !cover) return one
  const importedAt = (cover.enrolments[0] ?? cover.enrolment).pickedAt
  const step = stepOn(cover, dateAt(importedAt, zone))
  const isChanged = one.writtenAt !== undefined && one.writtenAt > importedAt
  return { ...one, step, details: isChanged ? CHANGED : reader.fingerprint(subject, cover, step) }
}

/** Differs from the fingerprint of any details. */
const CHANGED = ''
