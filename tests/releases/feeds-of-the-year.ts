import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { runContext } from '../../service/src/cli/feeds/run-context.ts'
import { answerRun } from '../../service/src/demo/demo-insurer.ts'
import { parseFeeds } from '../../service/src/feeds/parse.ts'
import { runFeed } from '../../service/src/feeds/run.ts'
import { publishFeeds, type Run } from '../../service/src/feeds/store.ts'
import { markInstallation } from '../../service/src/installation.ts'
import { openCommandExecutor } from '../../service/src/membership/commands/executor.ts'
import { urlOf } from '../command/database-url.ts'
import { newDirectory, runJson } from '../command/process.ts'
import { signIn } from '../console/operator-browser.ts'
import type { TestPartner, TestService } from '../rig.ts'

/** What insurers are told in the year. */
export type YearsFeeds = {
  /** Says what is due to the feed of accident and hospital cover; the insurer refuses one person, and accepts the others. */
  tell(refused: string): Promise<void>
  /** Finds a run held; a person drops it, and two let the next one go, which is told. */
  tellAfterDropping(refused: string): Promise<void>
  /** Leaves a run of one feed held, and a run of the other one made, whose file could not be handed over. */
  leaveOpen(): Promise<void>
  /** Compares with the insurer's own list, which has one person and nobody of ours. */
  compare(): Promise<void>
}

const demoFeeds = new URL('../../service/assets/demo-feeds.yaml', import.meta.url)
const LIVES = `
  - feed: lives
    insurer: seaview
    benefits: [life]
    format: csv
    columns: [{ name: LINE, value: line }, { name: MEMBER, value: serviceid }, { name: FROM, value: startson }]
`
const LIST = 'CERT,PLAN,FROM,TO,LAST,BORN\nSV-99999,accident,2026-02-01,,Elsewhere,1977-05-06\n'

/** Publishes the demo feed, which now holds a run with many ends, and one of life cover. */
export async function openYearsFeeds(service: TestService, answered: TestPartner): Promise<YearsFeeds> {
  const { database, keyring, now: real, address, rootKey } = service
  const installation = await markInstallation(database, { keyring, wanted: 'either', now: real() })
  const context = runContext({ database, keyring, real, installation })
  await context.prepareTerms([])
  const demo = await readFile(demoFeeds, 'utf8')
  const held = demo.replace('    every:', '    hold: { endspercent: 1 }\n    every:')
  const parsed = parseFeeds(held + LIVES, context.published.today().catalogue)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems))
  await publishFeeds(database, { document: parsed.document, at: real(), by: 'year' }, [])

  const run = async (feed: string, status: Run['status'], write = async () => {}) => {
    const outcome = await runFeed(context, feed, {
      asked: { by: 'year', full: false, write },
      places: { folder: undefined, command: undefined },
    })
    expect([feed, outcome.run.status]).toEqual([feed, status])
    return outcome.run
  }
  /** The insurer answers about the second partner, as answers would change the first one's users. */
  const tell = async (refused: string) => {
    const told = await run('seaview', 'taken')
    const partners = async () =>
      (await context.partners()).filter(({ partnerId }) => partnerId === answered.partnerId)
    await answerRun(
      { ...context, partners, executor: openCommandExecutor(context) },
      told,
      ({ serviceid }) =>
        serviceid === refused ? 'Date of birth differs from our records (made up)' : undefined,
    )
  }
  return {
    tell,
    async tellAfterDropping(refused) {
      const [one, two] = [await signIn(service, 'support'), await signIn(service, 'support')]
      const first = await run('seaview', 'held')
      await one.post('/feeds/seaview/drop', { run: String(first.run) })
      const second = await run('seaview', 'held')
      const release = { run: String(second.run), reason: 'read by hand' }
      const { path } = await one.post('/feeds/seaview/release', release)
      await two.post(`${path}/confirm`, { reason: 'agreed' })
      await tell(refused)
    },
    async leaveOpen() {
      await run('seaview', 'held')
      const full = async () => Promise.reject(new Error('the disk is full'))
      await expect(run('lives', 'taken', full)).rejects.toThrow('the disk is full')
    },
    async compare() {
      const { path, remove } = await newDirectory()
      const list = join(path, 'list.csv')
      await writeFile(list, LIST)
      const place = { env: { DATABASE_URL: urlOf(address), ENROLMENT_ROOT_KEY: rootKey } }
      const { unknownhere } = await runJson<{ unknownhere: object[] }>(
        ['feed', 'compare', 'seaview', list],
        place,
      )
      expect(unknownhere).toMatchObject([{ memberid: 'SV-99999' }])
      await remove()
    },
  }
}
