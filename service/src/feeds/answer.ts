import type { Database } from '../db/database.ts'
import type { CommandExecutor } from '../membership/commands/executor.ts'
import { openDataKey } from '../membership/records/documents.ts'
import { deleteFarewell, findSentFarewells, noteFarewellSent } from '../membership/records/farewells.ts'
import { openAnswer, sealAnswer } from '../membership/records/insurer-lines.ts'
import { raise } from '../membership/rules/events.ts'
import { isRefusal, refuse } from '../membership/rules/refusal.ts'
import type { Clock, Partner } from '../partners/partner.ts'
import { isUuid } from '../vault/uuid.ts'
import { type AnsweredLine, findLinesOfPeople, findLinesOfRun, noteAnswer } from './answer-store.ts'
import type { GivenAnswer } from './answers-csv.ts'
import { forgetSeen } from './walk-store.ts'

/** What answers came to: how many lines they accepted and refused, were known already, or fit no line that is still there. */
export type AnswerCounts = { accepted: number; refused: number; known: number; unknown: number }

/** What answers are recorded with. */
export type AnswerContext = {
  readonly database: Database
  readonly executor: CommandExecutor
  readonly clock: Clock
  readonly partners: () => Promise<readonly Partner[]>
}

/**
 * Which feed and run the answers are about, and who brought them; without a run only answers by serviceid find their lines.
 */
export type AnsweredRun = { readonly feed: string; readonly run: number | undefined; readonly actor: string }

const PAGE = 500

/**
 * Records what an insurer answered. Each answer, its event for the partner, and that the person is to be compared again, are
 * stored together. Answers that are known already change nothing, so a file may be given twice.
 */
export async function recordAnswers(
  context: AnswerContext,
  given: readonly GivenAnswer[],
  about: AnsweredRun,
): Promise<AnswerCounts> {
  const counts: AnswerCounts = { accepted: 0, refused: 0, known: 0, unknown: given.length }
  for (const partner of await context.partners()) {
    await answerFarewells(context, { partner, given, about, counts })
    for (let start = 0; start < given.length; start += PAGE) {
      const page = given.slice(start, start + PAGE)
      const lines = await linesOf(context, partner, { page, about })
      await Promise.all(
        [...lines].map(async ([answer, line]) => {
          counts.unknown -= 1
          counts[await recordAnswer(context, { partner, line, answer, actor: about.actor })] += 1
        }),
      )
    }
  }
  return counts
}

/** The line that each answer is about, of those of one partner. */
async function linesOf(
  { database }: AnswerContext,
  { partnerId }: Partner,
  { page, about }: { readonly page: readonly GivenAnswer[]; readonly about: AnsweredRun },
): Promise<Map<GivenAnswer, AnsweredLine>> {
  const { feed, run } = about
  const numbered = page.filter(({ line }) => line !== undefined && run !== undefined)
  const named = page.filter(one => !numbered.includes(one) && isUuid(one.serviceId))
  const lines = numbered.flatMap(({ line }) => (line === undefined ? [] : [line]))
  const byNumber = new Map(
    lines.length === 0 || run === undefined
      ? []
      : (await findLinesOfRun(database, { partnerId, feed, run, lines })).map(row => [row.line, row]),
  )
  const serviceIds = [...new Set(named.map(({ serviceId }) => serviceId))]
  const newest =
    serviceIds.length === 0 ? [] : await findLinesOfPeople(database, { partnerId, feed, run, serviceIds })
  const found = new Map<GivenAnswer, AnsweredLine>()
  for (const answer of page) {
    const own = newest.filter(row => row.service_id === answer.serviceId)
    const row = numbered.includes(answer)
      ? byNumber.get(answer.line ?? 0)
      : answer.benefit === '' && own.length === 1
        ? own[0]
        : own.find(({ benefit }) => benefit === answer.benefit)
    if (row) found.set(answer, row)
  }
  return found
}

async function recordAnswer(
  { executor, clock, database }: AnswerContext,
  of: {
    readonly partner: Partner
    readonly line: AnsweredLine
    readonly answer: GivenAnswer
    readonly actor: string
  },
): Promise<'accepted' | 'refused' | 'known' | 'unknown'> {
  const { partner, line, answer, actor } = of
  const { isAccepted, code, text, memberId } = answer
  const user = { partnerId: line.partner_id, serviceId: line.service_id }
  const key = openDataKey(partner, line.service_id, line.wrapped_key)
  const before = line.sealed_answer && openAnswer(key, user, line.sealed_answer)
  const status = isAccepted ? 'accepted' : 'refused'
  // A refusal that an operator settled is not opened again by the same file.
  const isKnown = line.status === status || (!isAccepted && line.status === 'settled')
  if (isKnown && before?.code === code && before.memberId === memberId) return 'known'
  // A member number stays, also when a later answer leaves it out.
  const sealed = sealAnswer(key, user, { code, text, memberId: memberId || (before?.memberId ?? '') })
  const noted = noteAnswer(line, { isAccepted, sealed, at: clock.real() })
  if (isKnown) {
    await database.query(noted)
    return 'known'
  }
  const result = await executor.submit({
    partner,
    userid: line.userid,
    who: 'operator',
    why: 'insurer answered',
    actor,
    alongside: [noted, ...(isAccepted ? [] : [forgetSeen([line.service_id], { ...user, feed: line.feed })])],
    decide: ({ member, now }) => {
      if (member?.user.serviceId !== line.service_id) return refuse('user_not_found')
      const event = raise(member.user, `benefit_insurer_${status}`, now, line.benefit)
      return { change: { user: member.user, events: [event] }, answer: () => true }
    },
  })
  return isRefusal(result) ? 'unknown' : status
}

/** The end of an erased person's cover is done with once it is accepted; a refused one waits for the next run. */
async function answerFarewells(
  { database }: AnswerContext,
  of: {
    readonly partner: Partner
    readonly given: readonly GivenAnswer[]
    readonly about: AnsweredRun
    readonly counts: AnswerCounts
  },
): Promise<void> {
  const { feed, run } = of.about
  if (run === undefined) return
  for (const farewell of await findSentFarewells(database, of.partner, { feed, run })) {
    const answer = of.given.find(
      one =>
        one.line === farewell.line ||
        (one.line === undefined &&
          one.serviceId === farewell.user.serviceId &&
          one.benefit === farewell.benefit),
    )
    if (!answer) continue
    of.counts.unknown -= 1
    of.counts[answer.isAccepted ? 'accepted' : 'refused'] += 1
    await database.query(answer.isAccepted ? deleteFarewell(farewell) : noteFarewellSent(farewell, undefined))
  }
}
