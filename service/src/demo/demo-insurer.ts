import { readFile } from 'node:fs/promises'
import { type AnswerContext, recordAnswers } from '../feeds/answer.ts'
import type { GivenAnswer } from '../feeds/answers-csv.ts'
import type { LineValues } from '../feeds/feed.ts'
import { feedOfRun } from '../feeds/hand-over.ts'
import type { RunContext } from '../feeds/make-run.ts'
import { parseFeeds } from '../feeds/parse.ts'
import { readRunLines } from '../feeds/run-lines.ts'
import { listRuns, newestFeeds, publishFeeds, type Run } from '../feeds/store.ts'
import { type Repeated, repeatedly } from '../schedule/repeatedly.ts'

const file = new URL('../../assets/demo-feeds.yaml', import.meta.url)
const PUBLISHER = 'enrolment dev'
const LOOK_EVERY_MS = 5000
const MOST_BETWEEN_LOOKS = 100

/** Publishes the feeds of the made-up insurers, unless somebody published others here. */
export async function publishDemoFeeds({ database, published, clock }: RunContext): Promise<void> {
  const newest = await newestFeeds(database)
  if (newest && newest.by !== PUBLISHER) return
  await published.prepare([])
  const parsed = parseFeeds(await readFile(file, 'utf8'), published.today().catalogue)
  if (!parsed.ok) throw new Error('the demo feeds are not right')
  await publishFeeds(database, { document: parsed.document, at: clock.real(), by: PUBLISHER }, [])
}

/** The made-up insurers of the sandbox. */
export type DemoInsurer = Repeated & {
  /** Answers each run that was sent since the last look, the oldest first. Never rejects. */
  look(): Promise<void>
}

/**
 * Opens them: some seconds after a run was taken they answer each line, that of a member with a member number, and refuse one person in ten
 * until that person's birth date is another one. Of the runs from before, only the newest is answered.
 */
export function openDemoInsurer(
  context: RunContext & AnswerContext,
  onError: (error: unknown) => void,
): DemoInsurer {
  const openedAt = context.clock.real()
  const answered = new Map<string, number>()
  const freshRuns = async (feed: string): Promise<readonly Run[]> => {
    const last = answered.get(feed)
    const sent = (await listRuns(context.database, feed, MOST_BETWEEN_LOOKS)).filter(
      ({ status, lines }) => status === 'taken' && lines > 0,
    )
    const isFresh = ({ run, takenAt = 0 }: Run) => (last === undefined ? takenAt >= openedAt : run > last)
    return sent.filter((run, index) => isFresh(run) || (last === undefined && index === 0)).reverse()
  }
  const look = async () => {
    try {
      for (const { feed } of (await newestFeeds(context.database))?.feeds ?? [])
        for (const run of await freshRuns(feed)) {
          await answerRun(context, run)
          answered.set(feed, run.run)
        }
    } catch (error) {
      onError(error)
    }
  }
  const looks = repeatedly(LOOK_EVERY_MS, async () => {
    await look()
    return LOOK_EVERY_MS
  })
  return { look, ...looks }
}

/** Says of the values of a line why it is refused; `undefined`: it is accepted. */
type Refuses = (values: LineValues) => string | undefined

/** Answers every line of a run. Without `refuses` one person in ten is refused. */
export async function answerRun(
  context: RunContext & AnswerContext,
  run: Run,
  refuses: Refuses = oneInTen,
): Promise<void> {
  const feed = await feedOfRun(context.database, run)
  await context.published.prepare([run.catalogueVersion])
  const catalogue = context.published.version(run.catalogueVersion)
  const given: GivenAnswer[] = []
  for await (const page of readRunLines(context.database, await context.partners(), {
    feed,
    run: run.run,
    catalogue,
  }))
    given.push(...page.map(({ line, values }) => answerTo(line, values, { insurer: feed.insurer, refuses })))
  await recordAnswers(context, given, { feed: run.feed, run: run.run, actor: 'demo' })
}

function oneInTen({ serviceid = '', dob = '' }: LineValues): string | undefined {
  const day = Number(dob.slice(-2))
  return (numberIn(serviceid) + day) % 10 === 0
    ? 'Date of birth differs from our records (made up)'
    : undefined
}

function numberIn(serviceId: string): number {
  return Number.parseInt(serviceId.slice(-4), 16) || 0
}

function answerTo(
  line: number,
  values: LineValues,
  { insurer, refuses }: { readonly insurer: string; readonly refuses: Refuses },
): GivenAnswer {
  const { serviceid: serviceId = '', who = 'member' } = values
  const refusal = refuses(values)
  const isAccepted = refusal === undefined
  return {
    run: undefined,
    line,
    serviceId,
    benefit: '',
    isAccepted,
    code: isAccepted ? 'OK' : 'E17',
    text: refusal ?? '',
    memberId:
      isAccepted && who === 'member'
        ? `${insurer.slice(0, 2).toUpperCase()}-${String(numberIn(serviceId)).padStart(5, '0')}`
        : '',
  }
}
