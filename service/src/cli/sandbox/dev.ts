import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { makePeople, withPartner } from '@benefit-enrolment/cli'
import type { Command } from '@benefit-enrolment/command'
import { openConsole } from '../../assembly/console.ts'
import { readWholeCatalogue } from '../../catalogue/bring-files.ts'
import { readCatalogue } from '../../catalogue/document.ts'
import type { Catalogue } from '../../catalogue/model.ts'
import { listPublications, publishVersion, readVersion } from '../../catalogue/published.ts'
import { readConfig } from '../../config.ts'
import type { Database } from '../../db/database.ts'
import { openDemoInsurer, publishDemoFeeds } from '../../demo/demo-insurer.ts'
import { demoSignIn } from '../../demo/demo-operator.ts'
import { admitSite, keep, openDemo, sendTo } from '../../demo/demo-partner.ts'
import { startSite } from '../../demo/site.ts'
import { walkThrough } from '../../demo/walk-through.ts'
import { describeCause } from '../../log.ts'
import { openCommandExecutor } from '../../membership/commands/executor.ts'
import { OperatorError } from '../../operator-error.ts'
import { consoleOptions } from '../console.ts'
import { runContext } from '../feeds/run-context.ts'
import { runService, servingOptions } from '../run-service.ts'

const demoCatalogue = new URL('../../../assets/demo-catalogue.yaml', import.meta.url)
const publisher = 'enrolment dev'

/** `enrolment dev`: what `npm start` runs. */
export const dev: Command = {
  name: 'dev',
  summary: 'Run a sandbox to try things out: demo catalogue, demo partner and its site, curl lines.',
  options: servingOptions,
  run: async input => {
    const config = readConfig(input.environment)
    const at = consoleOptions({ host: '127.0.0.1', port: config.consolePort ?? 0 }, config)
    // A catalogue that somebody published here is kept. The people of the demo are not made then: they fit only its own.
    let hasOwnCatalogue = false
    await runService(input, config, 'sandbox', {
      isForPeople: true,
      prepare: async ({ database }) => {
        const folder = fileURLToPath(new URL('.', demoCatalogue))
        const parsed = await readWholeCatalogue(await readFile(demoCatalogue, 'utf8'), folder)
        if (!parsed.ok) throw new Error('the demo catalogue is not right')
        hasOwnCatalogue = await isOwnNewest(database, readCatalogue(parsed.document))
        if (hasOwnCatalogue) return
        await publishVersion(database, {
          document: parsed.document,
          files: parsed.brought,
          at: Date.now(),
          by: publisher,
        })
      },
      started: async running => {
        const path = join(running.dataDir, 'demo.json')
        const demo = await openDemo(path, running)
        const { baseUrl } = running.service
        const baseurl = hereOf(running.service)
        const site = await startSite({ service: baseUrl, calls: baseurl }, demo)
        const closers: (() => Promise<void>)[] = [() => site.close()]
        const close = async () => {
          for (const end of closers) await end()
        }
        try {
          await keep(path, { ...demo, baseurl, webhook: { ...demo.webhook, port: site.port } })
          // The people are made before the inbox gets an endpoint, so that it shows only what the visitor does.
          if (!hasOwnCatalogue)
            await withPartner({ ...demo, baseurl }, ({ client }) => makePeople(client, 'missing'))
          await sendTo(site.url, demo, running)
          await admitSite(site.port, demo, running)
          const feeds = runContext({ ...running, real: Date.now })
          if (!hasOwnCatalogue) await publishDemoFeeds(feeds)
          const insurer = openDemoInsurer({ ...feeds, executor: openCommandExecutor(feeds) }, error =>
            running.log('feed_failed', describeCause(error)),
          )
          insurer.start()
          closers.unshift(insurer.close)
          const console = await openConsole({
            ...running,
            at,
            publicUrl: async () => baseUrl,
            erasures: running.erasures,
            real: Date.now,
          })
          closers.unshift(console.close)
          const consoleLink = await demoSignIn(running, console.url)
          const { http_proxy, all_proxy, ALL_PROXY } = input.environment
          const isProxied = [http_proxy, all_proxy, ALL_PROXY].some(Boolean)
          const data = input.text('data')
          const where = data === undefined ? '' : ` --data '${data}'`
          const importCommand = importOf(demo.partnerid, where)
          const feedCommands = hasOwnCatalogue ? undefined : feedRound(where)
          const shown = {
            baseUrl,
            demo,
            inbox: site.inbox,
            site: site.site,
            consoleLink,
            importCommand,
            feedCommands,
            isProxied,
          }
          const { partnerid, clientid, clientsecret, apikey } = demo
          const greeting = (hasOwnCatalogue ? ownCatalogueNote() : '') + walkThrough(shown)
          closers.push(printOnEnter(greeting))
          return {
            greeting,
            answer: {
              partnerid,
              clientid,
              clientsecret,
              apikey,
              credentials: path,
              site: site.site,
              inbox: site.inbox,
              console: console.url,
              signin: consoleLink ?? null,
              owncatalogue: hasOwnCatalogue,
            },
            close,
          }
        } catch (error) {
          // A server that listens would keep the process alive after the start has failed.
          await close()
          if (!running.lowOnSpace()) throw error
          // The service answered only that it cannot write now.
          throw new OperatorError(
            `The disk of ${running.dataDir} is nearly full, and nothing is written until 256 MB are free: make room, or choose another directory with --data.`,
          )
        }
      },
    })
  },
}

/** Prints the text again when Enter is pressed on a terminal, where it may have scrolled away; returns what ends that. */
function printOnEnter(text: string): () => Promise<void> {
  const { stdin, stdout } = process
  const print = () => void stdout.write(text)
  if (stdin.isTTY) stdin.on('data', print)
  return async () => {
    stdin.off('data', print)
    if (stdin.isTTY) stdin.pause()
  }
}

/** The command by which the members of the example move in; `undefined` where the examples are not installed. */
function importOf(partnerId: string, where: string): string | undefined {
  const file = fileURLToPath(new URL('../../../../examples/moving-in/members.csv', import.meta.url))
  if (!existsSync(file)) return undefined
  return `npx enrolment import ${partnerId} '${file}' --reason 'the example moves in'${where}`
}

/** The commands by which the made-up insurer is told of everybody, and that show what it refused. */
function feedRound(where: string): string {
  return `npx enrolment feed run seaview${where}; sleep 6; npx enrolment feed show seaview${where}`
}

/** Whether somebody published another catalogue than the demo's here, and it is the newest. */
async function isOwnNewest(database: Database, demo: Catalogue): Promise<boolean> {
  const [newest] = await listPublications(database)
  if (!newest || newest.by === publisher) return false
  return !isDeepStrictEqual(await readVersion(database, newest.version), demo)
}

function ownCatalogueNote(): string {
  return `
  The newest catalogue is your own. The demo and the lines below are made for the demo catalogue:
  npx enrolment catalogue publish ${fileURLToPath(demoCatalogue)} brings it back.
`
}

/** The address at which this process itself reaches the service, whatever its public address is. */
function hereOf({ address, baseUrl }: { address: string; baseUrl: string }): string {
  return address + new URL(baseUrl).pathname.replace(/\/$/, '')
}
