import { dropRun } from '../../feeds/drop-run.ts'
import { moveRun, newestRun, type Run } from '../../feeds/store.ts'
import { OperatorError } from '../../operator-error.ts'
import { type Command, neededText, valued } from '../command.ts'
import { inWorkspace, systemUser, type Workspace } from '../workspace.ts'
import { runContext, runNumber } from './run-context.ts'

const options = {
  reason: valued('TEXT', 'why, without personal data: it stands in the audit trail (needed)'),
}

/** Lets a held run go: the next `feed run`, or the schedule, hands it over. */
export const release: Command = {
  name: 'feed release',
  arguments: ['FEED', 'RUN'],
  summary: 'Let a held run go, as the second person: the next `feed run` or the schedule hands it over.',
  options,
  run: input => {
    neededText(input, 'reason')
    return inWorkspace(input, async workspace => {
      const held = await heldRun(workspace, input.positionals)
      await workspace.commit(tx => moveRun(tx, held, { from: 'held', status: 'made', by: systemUser() }))
      input.print({ feed: held.feed, run: held.run, status: 'made' }, [
        'It is handed over by the next `feed run`.',
      ])
    })
  },
}

/** Drops a held run: nothing of it was told, and the next run compares anew. */
export const drop: Command = {
  name: 'feed drop',
  arguments: ['FEED', 'RUN'],
  summary: 'Drop a held run, as the second person: nothing of it is told, and the next run compares anew.',
  options,
  run: input => {
    neededText(input, 'reason')
    return inWorkspace(input, async workspace => {
      const held = await heldRun(workspace, input.positionals)
      const partners = await runContext(workspace).partners()
      await workspace.commit(tx => dropRun(tx, held, { partners, by: systemUser() }))
      input.print({ feed: held.feed, run: held.run, status: 'dropped' }, ['Nothing of it was told.'])
    })
  },
}

/** The held run that is named. Throws OperatorError when it is none, or the person who made it would decide on it. */
async function heldRun({ database }: Workspace, [feed = '', number = '']: readonly string[]): Promise<Run> {
  const run = await newestRun(database, feed)
  if (run?.run !== runNumber(number) || run.status !== 'held')
    throw new OperatorError(`Run ${number} of "${feed}" is not held: see \`enrolment feed show ${feed}\`.`)
  if (run.madeBy === systemUser())
    throw new OperatorError(`The system user ${run.madeBy} made this run: a second person must decide on it.`)
  return run
}
