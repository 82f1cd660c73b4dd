import { runContext } from '../../service/src/cli/feeds/run-context.ts'
import { answerRun, publishDemoFeeds } from '../../service/src/demo/demo-insurer.ts'
import { runFeed } from '../../service/src/feeds/run.ts'
import { markInstallation } from '../../service/src/installation.ts'
import { openCommandExecutor } from '../../service/src/membership/commands/executor.ts'
import type { TestService } from '../rig.ts'

type Running = Pick<TestService, 'database' | 'keyring' | 'now'>
type DemoFeed = 'seaview' | 'coralbay'

/** What runs of the demo's feeds are made and answered with; the feeds are published. */
export async function demoFeeds({ database, keyring, now: real }: Running) {
  const installation = await markInstallation(database, { keyring, wanted: 'either', now: real() })
  const context = runContext({ database, keyring, real, installation })
  await publishDemoFeeds(context)
  const answering = { ...context, executor: openCommandExecutor(context) }
  /** Runs a feed; `write` takes its file. */
  const send = async (feed: DemoFeed, write: (bytes: Buffer) => Promise<unknown> = async () => {}) => {
    const { run } = await runFeed(context, feed, {
      asked: { by: 'test', full: false, write },
      places: { folder: undefined, command: undefined },
    })
    return run
  }
  return { answering, send }
}

/** Runs a feed of the demo catalogue, whose made-up insurer answers; returns the file, in one text. */
export async function demoRound(
  service: Running,
  refuses?: () => string | undefined,
  feed: DemoFeed = 'seaview',
): Promise<string> {
  const { answering, send } = await demoFeeds(service)
  const pieces: Buffer[] = []
  await answerRun(answering, await send(feed, async bytes => pieces.push(bytes)), refuses)
  return Buffer.concat(pieces).toString('utf8')
}
