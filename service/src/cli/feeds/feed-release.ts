import type { Command } from '@benefit-enrolment/command'
import { needsSecond } from '../../console/requests/second-person.ts'
import { readPolicy } from '../../console/requests/store.ts'
import { dropRun } from '../../feeds/drop-run.ts'
import { askRelease, releaseBy, releaseRun } from '../../feeds/release.ts'
import { newestRun, type Run } from '../../feeds/store.ts'
import { OperatorError } from '../../operator-error.ts'
import { aloneOption } from '../operator/alone.ts'
import { inWorkspace, systemUser, type Workspace } from '../workspace.ts'
import { runContext, runNumber } from './run-context.ts'

/** Lets a held run go, or asks for it: the next `feed run`, or the schedule, hands it over. */
export const release: Command = {
  name: 'feed release',
  arguments: ['FEED', 'RUN'],
  summary: 'Let a held run go, as the second person; for a run of the schedule the first one asks for it so.',
  options: aloneOption,
  run: input =>
    inWorkspace(input, async workspace => {
      const { database, record, commit } = workspace
      const held = await heldRun(workspace, input.positionals)
      const by = systemUser()
      const isAlone = input.flag('alone')
      if (isAlone) record({ action: 'feed release alone' })
      const isSecondNeeded = !isAlone && needsSecond(await readPolicy(database), 'release')
      const what = releaseBy(held, new Set([by]), isSecondNeeded)
      if (what === 'own')
        throw new OperatorError(
          `The system user ${by} made this run or asked for it: a second person must let it go, here or at the console, or give --alone, which goes on record.`,
        )
      if (what === 'ask') record({ action: 'ask for feed release' })
      const isDone = await commit(tx =>
        what === 'ask' ? askRelease(tx, held, by) : releaseRun(tx, held, by),
      )
      if (!isDone) throw new OperatorError(`Somebody else has decided on run ${held.run} meanwhile.`)
      const status = what === 'ask' ? 'held' : 'made'
      input.print({ feed: held.feed, run: held.run, status }, [
        what === 'ask'
          ? 'Asked for. It goes once a second person lets it go, here or at the console.'
          : 'It is handed over by the next `feed run`.',
      ])
    }),
}

/** Drops a held run: nothing of it was told, and the next run compares anew. */
export const drop: Command = {
  name: 'feed drop',
  arguments: ['FEED', 'RUN'],
  summary: 'Drop a held run: nothing of it is told, and the next run compares anew.',
  run: input =>
    inWorkspace(input, async workspace => {
      const held = await heldRun(workspace, input.positionals)
      const partners = await runContext(workspace).partners()
      await workspace.commit(tx => dropRun(tx, held, { partners, by: systemUser() }))
      input.print({ feed: held.feed, run: held.run, status: 'dropped' }, ['Nothing of it was told.'])
    }),
}

/** The held run that is named. Throws OperatorError when it is none. */
async function heldRun({ database }: Workspace, [feed = '', number = '']: readonly string[]): Promise<Run> {
  const run = await newestRun(database, feed)
  if (run?.run !== runNumber(number) || run.status !== 'held')
    throw new OperatorError(`Run ${number} of "${feed}" is not held: see \`enrolment feed show ${feed}\`.`)
  return run
}
