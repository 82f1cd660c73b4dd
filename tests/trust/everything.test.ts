// @databases citus stock
// @nightly

import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { type BulkLine, createClient } from '../../client/src/index.ts'
import { root, run, runJson, type ServiceProcess, startKeptProcess } from '../command/process.ts'
import { signedIn } from '../command/signed-in.ts'
import { isLong, minutesOf } from '../long.ts'
import { ada } from '../rig.ts'
import { enrolOnPage } from './enrol-on-page.ts'
import { type OwnJournal, openOwnJournal } from './journal.ts'
import { type FaultStage, openFaultStage } from './stage.ts'

type Client = ReturnType<typeof createClient>

/** How long everything runs; the full figure is half an hour, and by its name the file takes a minute. */
const minutes = Number(process.env['TEST_SOAK_MINUTES'] ?? (isLong ? minutesOf(30) : 1))

test(
  `${minutes} minutes of writes, bulks, page, console, feeds, statements, webhooks and kills: all books agree`,
  async () => {
    const stage = await openFaultStage()
    onTestFinished(stage.close)
    const own = openOwnJournal()
    const counts: Record<string, number> = {}
    let until = 0
    /** Does something again and again until the time is over. */
    const repeat = async (name: string, restMs: number, act: (count: number) => Promise<unknown>) => {
      for (let count = 0; Date.now() < until; count += 1) {
        await act(count)
        counts[name] = count + 1
        await pause(restMs)
      }
    }
    const services = await Promise.all([0, 1].map(process => startOne(stage, process)))
    const client = clientOfBoth(stage)
    const { url, username, password } = stage.receiver
    await client.createWebhook({ url: `${url}/2`, username, password, events: ['all'], ordering: 'user' })
    const visit = await openConsole(stage)
    await runJson(['feed', 'publish', join(root, 'service/assets/demo-feeds.yaml')], stage.place)
    const feeding = {
      ...stage.place,
      env: { ...stage.place.env, ENROLMENT_FEEDS: join(stage.place.cwd ?? '', 'feeds') },
    }
    // Once the second endpoint is there, so that it wants all their events.
    const journal = stage.openJournal({ writers: 2, name: 'soak', processes: 2, pauseMs: 100 })
    until = Date.now() + minutes * 60_000
    await Promise.all([
      repeat('kills', 8000, async count => {
        const process = count % 2
        await services[process]?.stop('SIGKILL')
        services[process] = await startOne(stage, process)
      }),
      repeat('bulks', 1000, count => sendBulk(own, client, `bulk-${count}`)),
      repeat('enrolled on the page', 1000, count =>
        enrolOnPage(own, { client, service: `http://127.0.0.1:${stage.ports[count % 2]}` }, `page-${count}`),
      ),
      repeat('pages of the console', 500, visit),
      repeat('runs of a feed', 5000, async () => {
        const { code, stderr } = await run(['feed', 'run', 'seaview'], feeding)
        // On a machine that is too slow for a statement's five seconds, or stands still for ten, it makes nothing, and says so.
        if (!/took too long|25P03/.test(stderr)) expect([code, stderr]).toEqual([0, ''])
      }),
      repeat('statements', 2000, async () => {
        const { statements } = await client.listStatements({})
        for (const { month } of statements) for await (const _ of client.eachStatementLine({ month })) break
      }),
    ])
    await journal.stop()
    process.stdout.write(`everything: ${journal.acknowledged()} single writes, ${JSON.stringify(counts)}\n`)
    await stage.check({
      entries: [...journal.entries, ...own.entries],
      wrong: [...journal.wrong, ...own.wrong],
    })
  },
  minutes * 60_000 + 900_000,
)

/** Starts a process, and again where the machine was too slow to connect it to the database, as a supervisor would. */
async function startOne(stage: FaultStage, process: number, tries = 5): Promise<ServiceProcess> {
  const started = await stage.start({ process }).catch((error: unknown) => {
    if (tries === 0) throw error
    return startOne(stage, process, tries - 1)
  })
  if (started === 'killed') throw new Error('killed without a fault')
  return started
}

/** A client that sends to both processes by turns, and again, under the same key, where one was just killed. */
function clientOfBoth({ partner, ports }: FaultStage) {
  let turn = 0
  return createClient({
    baseUrl: `http://127.0.0.1:${ports[0]}`,
    clientId: partner.clientid,
    clientSecret: partner.clientsecret,
    apiKey: partner.apikey,
    tries: 100,
    timeoutMs: 60_000,
    deadlineMs: 300_000,
    fetch: (url, init) => fetch(String(url).replace(/:\d+/, `:${ports[turn++ % ports.length]}`), init),
  })
}

/** Twenty users in one request: half of them members, each tenth erased again by another. */
async function sendBulk(own: OwnJournal, client: Client, name: string): Promise<void> {
  const userids = Array.from({ length: 20 }, (_, index) => `${name}-${index}`)
  const lines = userids.map((userid, index) =>
    index % 2 === 0
      ? { operation: 'create', key: `${userid}-create`, body: { userid, ...ada, offername: 'plus' } }
      : { operation: 'prefill', key: `${userid}-prefill`, body: { userid, ...ada } },
  )
  const erased = userids
    .filter((_, index) => index % 10 === 0)
    .map(userid => ({ operation: 'erase', key: `${userid}-erase`, body: { userid } }))
  for (const some of [lines, erased])
    for await (const { line, status } of client.bulk(some as BulkLine[])) {
      const { operation, body } = some[line - 1] as {
        operation: 'create' | 'prefill' | 'erase'
        body: { userid: string }
      }
      expect([operation, status]).toEqual([operation, 200])
      own.note(body.userid, operation)
    }
}

/** Opens a console beside the service, signs an operator in, and returns what reads one of its screens. */
async function openConsole(stage: FaultStage): Promise<(count: number) => Promise<void>> {
  const console = await startKeptProcess(['console', '--port', '0'], stage.place)
  onTestFinished(async () => void (await console.stop('SIGKILL')))
  const read = await signedIn(stage.place, 'Grace', 'admin')
  const screens = [
    '/',
    '/due',
    '/webhooks',
    '/partners',
    `/partners/${stage.partner.partnerid}`,
    '/audit',
    '/requests',
  ]
  return async count => {
    const screen = screens[count % screens.length] ?? '/'
    const answer = await read(screen)
    await answer.text()
    expect([screen, answer.status]).toEqual([screen, 200])
  }
}
