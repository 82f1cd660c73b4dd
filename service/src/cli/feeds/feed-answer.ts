import { type Command, readGiven, UsageError, valued } from '@benefit-enrolment/command'
import { recordAnswers } from '../../feeds/answer.ts'
import { type GivenAnswer, readCsvAnswers } from '../../feeds/answers-csv.ts'
import { type Acknowledgement, answersOf, isX12, readAcknowledgements } from '../../feeds/answers-x12.ts'
import { textOfFile } from '../../feeds/encoding.ts'
import { feedOfRun } from '../../feeds/hand-over.ts'
import { placesOfRun } from '../../feeds/line-places.ts'
import { requireFeed } from '../../feeds/run.ts'
import { newestSentRun, readRun } from '../../feeds/store.ts'
import { openCommandExecutor } from '../../membership/commands/executor.ts'
import { OperatorError } from '../../operator-error.ts'
import { inWorkspace, systemUser, type Workspace } from '../workspace.ts'
import { runContext, runNumber } from './run-context.ts'

/** Takes an insurer's answers: CSV as the feed says, a TA1 or a 999. */
export const answer: Command = {
  name: 'feed answer',
  arguments: ['FEED', 'FILE'],
  summary: 'Record what an insurer answered: CSV as the feed says, or TA1 and 999.',
  options: {
    run: valued(
      'RUN',
      'the run that a CSV file answers (default: the last one that was taken and had lines)',
    ),
  },
  run: input =>
    inWorkspace(input, async workspace => {
      const { database, begin } = workspace
      const [name = '', path = ''] = input.positionals
      const { feed } = await requireFeed(database, name)
      const text = textOfFile(readGiven(path, `The file ${path}`), feed)
      const asked = input.text('run')
      const acknowledged = isX12(text) ? readAcknowledgements(text) : undefined
      if (acknowledged && asked !== undefined)
        throw new UsageError('A TA1 or 999 names its runs itself: leave --run out; see --help.')
      const last =
        asked === undefined
          ? await newestSentRun(database, name)
          : await readRun(database, name, runNumber(asked))
      if (!last)
        throw new OperatorError(
          `The feed "${name}" has ${asked === undefined ? 'sent nothing yet' : `no run ${asked}`}: nothing of it can be answered.`,
        )
      if (last.status !== 'taken')
        throw new OperatorError(
          `Run ${last.run} of ${name} is ${last.status} and was not taken, so nothing was recorded: name one that was taken.`,
        )
      const given: readonly GivenAnswer[] = acknowledged
        ? await acknowledgedLines(workspace, acknowledged, name)
        : readCsvAnswers(text, feed)
      await begin()
      const open = runContext(workspace)
      const context = { ...open, executor: openCommandExecutor(open) }
      const runs = acknowledged ? [...new Set(acknowledged.map(({ run }) => run))] : [last.run]
      const about = { feed: name, run: last.run, isRunGiven: asked !== undefined, actor: systemUser() }
      const counts = await recordAnswers(context, given, about)
      input.print({ feed: name, run: runs.at(-1) ?? last.run, runs, ...counts }, [
        `${name} run ${runs.join(', ')}: accepted ${counts.accepted}, refused ${counts.refused}, known before ${counts.known}, found nowhere ${counts.unknown}.`,
      ])
    }),
}

/** What a file says of the lines of each run that it answers. */
async function acknowledgedLines(
  workspace: Workspace,
  acknowledged: readonly Acknowledgement[],
  name: string,
): Promise<readonly GivenAnswer[]> {
  const { database } = workspace
  const context = runContext(workspace)
  const given: GivenAnswer[] = []
  for (const one of acknowledged) {
    const run = await readRun(database, name, one.run)
    if (run?.status !== 'taken')
      throw new OperatorError(
        `The feed "${name}" sent no run ${one.run}, which the file answers; nothing of it was recorded.`,
      )
    const { x12834 } = await feedOfRun(database, run)
    if (!x12834)
      throw new OperatorError(`Run ${run.run} of ${run.feed} is no X12 file: a TA1 or 999 cannot answer it.`)
    for (const answer of answersOf(one, x12834, await placesOfRun(database, context, run))) given.push(answer)
  }
  return given
}
