import type { Database } from '../db/database.ts'
import type { CommandExecutor } from '../membership/commands/executor.ts'
import {
  deleteFarewell,
  findSentFarewells,
  noteFarewellRefused,
  type OpenFarewell,
} from '../membership/records/farewells.ts'
import { openInsurerAnswer, sealInsurerAnswer } from '../membership/records/insurer-lines.ts'
import { openDataKey } from '../membership/records/sealed.ts'
import { MEMBER } from '../membership/rules/covers.ts'
import { isRefusal, refuse } from '../membership/rules/refusal.ts'
import { raise } from '../membership/rules/state.ts'
import { OperatorError } from '../operator-error.ts'
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

/** Which feed the answers are about, and who brought them. */
export type AnsweredFeed = {
  readonly feed: string
  /** The run of answers by line that name none themselves; the last one that was taken. */
  readonly run: number
  /** An operator named this run, so that answers by serviceid are about it alone. */
  readonly isRunGiven?: boolean
  readonly actor: string
}

const PAGE = 500

/** A line of ours that is answered, or the end of an erased person's cover. */
type Found = { readonly answer: GivenAnswer } & (
  | { readonly partner: Partner; readonly line: AnsweredLine }
  | { readonly partner: Partner; readonly farewell: OpenFarewell }
)

/**
 * Records what an insurer answered. Each answer, its event for the partner, and that the person is to be compared again, are
 * stored together. Answers that are known already change nothing, so a file may be given twice. Throws OperatorError, and
 * records nothing, when two of them say different things of one line.
 */
export async function recordAnswers(
  context: AnswerContext,
  given: readonly GivenAnswer[],
  about: AnsweredFeed,
): Promise<AnswerCounts> {
  const found = new Map<string, Found>()
  const answered = new Set<GivenAnswer>()
  const take = (name: string, one: Found) => {
    answered.add(one.answer)
    const before = found.get(name)?.answer
    const answer = before ? joined(before, one.answer) : one.answer
    if (!answer)
      throw new OperatorError(
        `The file answers line ${name.replace(' ', ' of run ')} twice, and differently. Nothing of it was recorded.`,
      )
    found.set(name, { ...one, answer })
  }
  for (const partner of await context.partners()) {
    for (const [answer, farewell] of await farewellsOf(context, partner, { given, about }))
      take(`${farewell.line} ${farewell.run}`, { answer, partner, farewell })
    for (let start = 0; start < given.length; start += PAGE) {
      const page = given.slice(start, start + PAGE)
      for (const [answer, line] of await linesOf(context, partner, { page, about }))
        take(`${line.line} ${line.run}`, { answer, partner, line })
    }
  }
  const counts: AnswerCounts = { accepted: 0, refused: 0, known: 0, unknown: given.length - answered.size }
  const all = [...found.values()]
  for (let start = 0; start < all.length; start += PAGE)
    await Promise.all(
      all.slice(start, start + PAGE).map(async one => {
        if ('farewell' in one) counts[await answerFarewell(context, about, one)] += 1
        else counts[await recordAnswer(context, { ...one, actor: about.actor })] += 1
      }),
    )
  return counts
}

/** Two answers to one line as one: a line may be refused for several reasons. `undefined`: they do not agree. */
function joined(a: GivenAnswer, b: GivenAnswer): GivenAnswer | undefined {
  if (a.isAccepted !== b.isAccepted || (a.isAccepted && a.memberId !== b.memberId)) return undefined
  const both = (one: string, other: string) =>
    one.split('; ').includes(other) ? one : [one, other].filter(text => text !== '').join('; ')
  return a.isAccepted ? a : { ...a, code: both(a.code, b.code), text: both(a.text, b.text) }
}

/** The line that each answer is about, of those of one partner. */
async function linesOf(
  { database }: AnswerContext,
  { partnerId }: Partner,
  { page, about }: { readonly page: readonly GivenAnswer[]; readonly about: AnsweredFeed },
): Promise<Map<GivenAnswer, AnsweredLine>> {
  const { feed } = about
  const byRun = new Map<number, GivenAnswer[]>()
  for (const answer of page)
    if (answer.line !== undefined) {
      const run = answer.run ?? about.run
      byRun.set(run, [...(byRun.get(run) ?? []), answer])
    }
  const found = new Map<GivenAnswer, AnsweredLine>()
  for (const [run, answers] of byRun) {
    const lines = answers.flatMap(({ line }) => (line === undefined ? [] : [line]))
    const rows = await findLinesOfRun(database, { partnerId, feed, run, lines })
    const byNumber = new Map(rows.map(row => [row.line, row]))
    for (const answer of answers) {
      const row = byNumber.get(answer.line ?? 0)
      if (row && fits(answer, placeOf(row))) found.set(answer, row)
    }
  }
  const named = page.filter(({ line, serviceId }) => line === undefined && isUuid(serviceId))
  const serviceIds = [...new Set(named.map(({ serviceId }) => serviceId))]
  const { run, isRunGiven: alone = false } = about
  const newest =
    serviceIds.length === 0
      ? []
      : await findLinesOfPeople(database, { partnerId, feed, run, alone, serviceIds })
  for (const answer of named) {
    const own = newest.filter(row => fits({ person: MEMBER, ...answer, benefit: '' }, placeOf(row)))
    const row =
      answer.benefit === '' && own.length === 1
        ? own[0]
        : own.find(({ benefit }) => benefit === answer.benefit)
    if (row) found.set(answer, row)
  }
  return found
}

type LinePlace = Required<Pick<GivenAnswer, 'serviceId' | 'benefit' | 'person'>>

function placeOf({ service_id, benefit, dependant_id }: AnsweredLine): LinePlace {
  return { serviceId: service_id, benefit, person: dependant_id ?? MEMBER }
}

/** Whether a line is about the person and benefit that an answer names besides its number. */
function fits(answer: Pick<GivenAnswer, 'serviceId' | 'benefit' | 'person'>, line: LinePlace): boolean {
  return (
    (answer.serviceId === '' || answer.serviceId === line.serviceId) &&
    (answer.benefit === '' || answer.benefit === line.benefit) &&
    (answer.person === undefined || answer.person === line.person)
  )
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
  const before = line.sealed_answer && openInsurerAnswer(key, user, line.sealed_answer)
  const status = isAccepted ? 'accepted' : 'refused'
  const isSame = before?.code === code && (memberId === '' || before.memberId === memberId)
  // The same file opens nothing again that is settled, or doubted since: it is to be said once more, whatever was answered before.
  const isPast = line.status === 'settled' || line.status === 'doubted'
  const isKnown = line.status === status || (isPast && isSame) || (!isAccepted && line.status === 'settled')
  if (isKnown && isSame) return 'known'
  // A member number stays, also when a later answer leaves it out.
  const sealed = sealInsurerAnswer(key, user, { code, text, memberId: memberId || (before?.memberId ?? '') })
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
      const dependantId = line.dependant_id ?? undefined
      return { change: { user: member.user, events: [{ ...event, dependantId }] }, answer: () => true }
    },
  })
  return isRefusal(result) ? 'unknown' : status
}

/** The end of an erased person's cover that each answer is about, of those of one partner. */
async function farewellsOf(
  { database }: AnswerContext,
  partner: Partner,
  { given, about }: { readonly given: readonly GivenAnswer[]; readonly about: AnsweredFeed },
): Promise<Map<GivenAnswer, OpenFarewell>> {
  const { feed, isRunGiven } = about
  const found = new Map<GivenAnswer, OpenFarewell>()
  const sent = await findSentFarewells(database, partner, { feed, run: undefined })
  if (sent.length === 0) return found
  for (const answer of given) {
    const run = answer.line !== undefined || isRunGiven ? (answer.run ?? about.run) : undefined
    const asked = answer.line === undefined ? { person: MEMBER, ...answer } : answer
    const own = sent.filter(
      ({ user: { serviceId }, benefit, dependant, ...one }) =>
        // What was made after the last run that was taken was not sent, so nobody can have answered it.
        (run === undefined ? one.run <= about.run : one.run === run) &&
        fits(asked, { serviceId, benefit, person: dependant?.dependantId ?? MEMBER }) &&
        (answer.line === undefined ? serviceId === answer.serviceId : one.line === answer.line),
    )
    const last = own.at(-1)
    if (last) found.set(answer, last)
  }
  return found
}

/** The end of an erased person's cover is done with once it is accepted; a refused one waits for the next run. */
async function answerFarewell(
  { database }: AnswerContext,
  { feed }: AnsweredFeed,
  of: { readonly partner: Partner; readonly answer: GivenAnswer; readonly farewell: OpenFarewell },
): Promise<'accepted' | 'refused'> {
  const { partner, answer, farewell } = of
  const { isAccepted, code } = answer
  await database.query(
    isAccepted ? deleteFarewell(farewell) : noteFarewellRefused(partner, farewell, { feed, code }),
  )
  return isAccepted ? 'accepted' : 'refused'
}
