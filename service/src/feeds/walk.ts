import { dateAt, type Instant, startOfDate } from '../calendar/calendar.ts'
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
import type { UserIds } from '../membership/records/sealed.ts'
import { applyDueChanges } from '../membership/rules/apply-due.ts'
import { coversOf, type TrueCover } from '../membership/rules/covers.ts'
import {
  type InsurerLine,
  linesFor,
  nextDayToTell,
  restatedLines,
} from '../membership/rules/insurer-lines.ts'
import { versionsOf } from '../membership/rules/state.ts'
import type { Partner } from '../partners/partner.ts'
import type { Feed, LineValues } from './feed.ts'
import { type LineReader, openLineReader, type Subject } from './values.ts'
import { FIRST_SERVICE_ID, findCandidates, type SeenRow } from './walk-store.ts'

/** A line that a run would send, before it has a number. */
export type DraftLine = {
  readonly user: UserIds
  readonly benefit: string
  readonly line: InsurerLine<TrueCover>
  readonly values: LineValues
  readonly dataKey: Buffer
}

/** What a page of compared users comes to. */
export type ComparedPage = {
  readonly lines: readonly DraftLine[]
  readonly seen: readonly SeenRow[]
  /** Details that an insurer knows from a former system. */
  readonly learnt: readonly {
    readonly serviceId: string
    readonly benefit: string
    readonly details: string
  }[]
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
  const compared = loaded.map(mine => {
    const own = told.get(mine.user.serviceId) ?? []
    const memberIdOf = members(dataKeyOf(mine, partner), mine.user)
    return compareUser(context, { walk, reader, mine, told: own, memberIdOf })
  })
  return {
    lines: compared.flatMap(one => one.lines),
    seen: compared.map(one => one.seen),
    learnt: compared.flatMap(one => one.learnt),
  }
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
  },
) {
  const { reader, mine, told, memberIdOf } = of
  const { partner, feed, now, full } = of.walk
  const person = () => personOf(mine, partner, 'profile')
  const terms = context.terms(partner, person)
  const user = applyDueChanges(mine.user, now, terms).at(-1)?.after ?? mine.user
  const today = dateAt(now, partner.timezone)
  const subject: Subject = { partner, user, person: person() ?? {}, terms, today, memberIdOf }
  const horizon = { today, aheadDays: feed.aheaddays ?? 0 }
  const dataKey = dataKeyOf(mine, partner)
  const covers = feed.benefits.map(benefit => coversOf(user, benefit, partner.timezone))
  const lines = feed.benefits.flatMap((benefit, index): DraftLine[] => {
    const truth = covers[index] ?? []
    const known = told.filter(one => one.benefit === benefit && one.insurer === feed.insurer)
    const news = linesFor(known, truth, {
      horizon,
      detailsOf: one => reader.fingerprint(subject, one),
      // Of what is over, the insurer of its own terms got the premium.
      counts: ({ enrolment }) =>
        terms.version(enrolment.version).benefits.get(benefit)?.insurer?.insurer === feed.insurer,
    })
    const endsFrom = feed.endstatedfor ?? ENDS_STATED_FOR_DAYS
    const again = full ? restatedLines(known, truth, { news, horizon, endsFrom }) : []
    return [...news, ...again].flatMap(line => {
      const values = reader.values(subject, { ...line, benefit })
      return dataKey ? [{ user: mine.user, benefit, line, values, dataKey }] : []
    })
  })
  const next = nextDayToTell(covers.flat(), horizon)
  return {
    lines,
    seen: {
      serviceId: user.serviceId,
      version: mine.readVersion,
      lookAt: next === undefined ? undefined : startOfDate(next, partner.timezone),
    },
    learnt: told
      .filter(one => one.details === undefined && !one.isVoid && one.insurer === feed.insurer)
      .flatMap(({ benefit, startsOn, serviceId }) => {
        const cover = covers
          .flat()
          .find(one => one.enrolment.benefit === benefit && one.startsOn === startsOn)
        return cover ? [{ serviceId, benefit, details: reader.fingerprint(subject, cover) }] : []
      }),
  }
}
