import { join } from 'node:path'
import { expect } from 'vitest'
import { type BulkLine, createClient } from '../../client/src/index.ts'
import { root, run, runJson, startKeptProcess } from '../command/process.ts'
import { signedIn } from '../command/signed-in.ts'
import { ada } from '../rig.ts'
import { enrolOnPage } from '../trust/enrol-on-page.ts'
import type { Bench } from './bench.ts'

/** Does something again and again beside the single writes of a case, resting after each; `close` ends what it started. */
type Writing = {
  readonly restMs: number
  readonly open: (bench: Bench) => Promise<Opened>
}

/** What is done once, and how it is ended. */
export type Opened = {
  readonly act: (count: number) => Promise<unknown>
  readonly close?: () => Promise<unknown>
}

/** What may go on while victims are hurt; each answer is waited for, and none of it may fail. */
export const writes = {
  bulks: {
    restMs: 1000,
    open: async bench => {
      const client = patientClient(bench)
      return { act: count => sendBulk(bench, client, `bulk-${count}`) }
    },
  },
  page: {
    restMs: 1000,
    open: async bench => {
      const client = patientClient(bench)
      const service = (count: number) => `http://127.0.0.1:${bench.ports[count % 2]}`
      return { act: count => enrolOnPage(bench.own, { client, service: service(count) }, `page-${count}`) }
    },
  },
  console: {
    restMs: 500,
    open: async bench => {
      const console = await startKeptProcess(['console', '--port', '0'], bench.place)
      const read = await signedIn(bench.place, 'Grace', 'admin')
      const partner = `/partners/${bench.partner.partnerid}`
      const screens = ['/', '/due', '/webhooks', '/partners', partner, '/audit', '/requests']
      const act = async (count: number) => {
        const screen = screens[count % screens.length] ?? '/'
        const answer = await read(screen)
        await answer.text()
        expect([screen, answer.status]).toEqual([screen, 200])
      }
      return { act, close: () => console.stop('SIGKILL') }
    },
  },
  feed: {
    restMs: 5000,
    open: async ({ place }) => {
      await runJson(['feed', 'publish', join(root, 'service/assets/demo-feeds.yaml')], place)
      const env = { ...place.env, ENROLMENT_FEEDS: join(place.cwd, 'feeds') }
      const act = async () => {
        const { code, stderr } = await run(['feed', 'run', 'seaview'], { ...place, env })
        // On a machine that is too slow for a statement's five seconds, or stands still for ten, it makes nothing, and says so.
        if (!/took too long|25P03/.test(stderr)) expect([code, stderr]).toEqual([0, ''])
      }
      return { act }
    },
  },
  statements: {
    restMs: 2000,
    open: async bench => {
      const client = patientClient(bench)
      const act = async () => {
        const { statements } = await client.listStatements({})
        for (const { month } of statements) for await (const _ of client.eachStatementLine({ month })) break
      }
      return { act }
    },
  },
} satisfies Readonly<Record<string, Writing>>

type PatientClient = ReturnType<typeof createClient>

/** A client that sends to all processes by turns, and again, under the same key, where one was just killed. */
function patientClient({ partner, ports, processes }: Bench): PatientClient {
  let turn = 0
  return createClient({
    baseUrl: `http://127.0.0.1:${ports[0]}`,
    clientId: partner.clientid,
    clientSecret: partner.clientsecret,
    apiKey: partner.apikey,
    tries: 100,
    timeoutMs: 60_000,
    deadlineMs: 300_000,
    fetch: (url, init) => fetch(String(url).replace(/:\d+/, `:${ports[turn++ % processes.length]}`), init),
  })
}

/** Twenty users in one request: half of them members, each tenth erased again by another. */
async function sendBulk({ own }: Bench, client: PatientClient, name: string): Promise<void> {
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
