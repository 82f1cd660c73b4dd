import { runContext } from '../../service/src/cli/feeds/run-context.ts'
import { answerRun, publishDemoFeeds } from '../../service/src/demo/demo-insurer.ts'
import { runFeed } from '../../service/src/feeds/run.ts'
import { markInstallation } from '../../service/src/installation.ts'
import { openCommandExecutor } from '../../service/src/membership/commands/executor.ts'
import type { TestService } from '../rig.ts'

/** Runs a feed of the demo catalogue, whose made-up insurer answers; returns the file, in one text. */
export async function demoRound(
  { database, keyring, now: real }: Pick<TestService, 'database' | 'keyring' | 'now'>,
  refuses?: () => string | undefined,
  feed: 'seaview' | 'coralbay' = 'seaview',
): Promise<string> {
  const installation = await markInstallation(database, { keyring, wanted: 'either', now: real() })
  const context = runContext({ database, keyring, real, installation })
  await publishDemoFeeds(context)
  const pieces: Buffer[] = []
  const { run } = await runFeed(context, feed, {
    asked: { by: 'test', full: false, write: async bytes => pieces.push(bytes) },
    places: { folder: undefined, command: undefined },
  })
  await answerRun({ ...context, executor: openCommandExecutor(context) }, run, refuses)
  return Buffer.concat(pieces).toString('utf8')
}
