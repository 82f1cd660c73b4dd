import { dateAt, type Instant } from '../calendar/calendar.ts'
import type { Published } from '../catalogue/published.ts'
import type { Database, Executor } from '../db/database.ts'
import { findWaitingFarewells, noteFarewellSent } from '../membership/records/farewells.ts'
import { insurerLines } from '../membership/records/insurer-lines.ts'
import { sealJson } from '../membership/records/sealed.ts'
import { afterLine, type LineAction } from '../membership/rules/insurer-lines.ts'
import type { Clock, Partner } from '../partners/partner.ts'
import type { Feed } from './feed.ts'
import { insertRun, newestRun, type Run } from './store.ts'
import { type ComparedPage, type WalkContext, walkUsers } from './walk.ts'
import { countCovered, holdKeys, learnDetails, noteSeen, settleWhatIsLeft } from './walk-store.ts'

/** What runs are made with. */
export type RunContext = WalkContext & {
  readonly database: Database
  readonly clock: Clock
  readonly published: Published
  readonly partners: () => Promise<readonly Partner[]>
}

/** Which run to make: of a feed of a version, by whom. */
export type Making = {
  readonly feed: Feed
  readonly version: number
  readonly by: string
  /** Says everything again, though the feed tells only changes. */
  readonly full?: boolean
}

/**
 * Makes the next run: compares everybody whose state or data changed, and stores the lines and what was compared, all in the
 * given transaction. A run that would end more covers than the feed lets go by itself is held; one without lines has nothing
 * to be taken, so it is taken at once.
 */
export async function makeRun(tx: Executor, context: RunContext, making: Making): Promise<Run> {
  const { feed, version, by, full = feed.content === 'full' } = making
  await context.prepareTerms([])
  const { version: catalogueVersion, catalogue } = context.published.today()
  const last = await newestRun(tx, feed.feed)
  const run = (last?.run ?? 0) + 1
  // Another version of either may say something else about people who have not changed.
  const everybody = full || last?.version !== version || last.catalogueVersion !== catalogueVersion
  const madeAt = context.clock.real()
  const counts: Partial<Record<LineAction, number>> = {}
  let lines = 0
  let covered = 0
  let passed = 0
  const number = (action: LineAction, hasPassed = false) => {
    lines += 1
    if (hasPassed) passed += 1
    counts[action] = (counts[action] ?? 0) + 1
    return lines
  }
  for (const partner of await context.partners()) {
    const now = context.clock.now(partner)
    const sent = { feed, run, number, madeAt }
    await sendFarewells(tx, partner, sent)
    for await (const page of walkUsers(tx, context, { partner, feed, now, everybody, full }))
      await storePage(tx, page, { partner, ...sent })
    if (feed.hold) {
      const { insurer, benefits } = feed
      const today = dateAt(now, partner.timezone)
      const before = { feed: feed.feed, run }
      covered += await countCovered(tx, { partnerId: partner.partnerId, insurer, benefits, today, before })
    }
  }
  const ends = (counts.end ?? 0) + (counts.void ?? 0) - passed
  const isHeld = feed.hold !== undefined && !full && ends * 100 > covered * feed.hold.endspercent
  const made: Run = {
    feed: feed.feed,
    run,
    version,
    catalogueVersion,
    status: lines === 0 ? 'taken' : isHeld ? 'held' : 'made',
    isFull: full,
    lines,
    counts,
    madeAt,
    madeBy: by,
    decidedBy: undefined,
    takenAt: lines === 0 ? madeAt : undefined,
    insurerName: catalogue.insurers.get(feed.insurer)?.name,
  }
  await tx.query(insertRun(made))
  return made
}

type Sending = {
  readonly feed: Feed
  readonly run: number
  readonly madeAt: Instant
  readonly number: (action: LineAction, hasPassed?: boolean) => number
}

/** The ends of erased people come first. */
async function sendFarewells(tx: Executor, partner: Partner, { feed, run, number }: Sending): Promise<void> {
  for (const farewell of await findWaitingFarewells(tx, partner, feed))
    await tx.query(noteFarewellSent(farewell, { feed: feed.feed, run, line: number(farewell.action) }))
}

async function storePage(
  tx: Executor,
  { lines, seen, learnt }: ComparedPage,
  { partner, feed, run, number, madeAt }: Sending & { readonly partner: Partner },
): Promise<void> {
  const of = { partnerId: partner.partnerId, feed: feed.feed }
  if (lines.length > 0) {
    await tx.query(holdKeys(partner.partnerId, [...new Set(lines.map(({ user }) => user.serviceId))]))
    const rows = lines.map(({ user, benefit, person, line, values, dataKey }) => ({
      user,
      insurer: feed.insurer,
      benefit,
      person,
      feed: feed.feed,
      run,
      line: number(line.action, line.hasPassed),
      toldAt: madeAt,
      action: line.action,
      cover: afterLine(line),
      sealed: sealJson(dataKey, values, 'insurer_lines', user),
    }))
    for (const query of insurerLines.write(rows)) await tx.query(query)
  }
  await tx.query(settleWhatIsLeft(seen, { ...of, run }))
  if (learnt.length > 0) await tx.query(learnDetails(learnt, partner.partnerId))
  if (seen.length > 0) await tx.query(noteSeen(seen, of))
}
