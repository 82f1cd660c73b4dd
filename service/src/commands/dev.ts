import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readWholeCatalogue } from '../catalogue/bring-files.ts'
import { publishVersion } from '../catalogue/published.ts'
import { readConfig } from '../config.ts'
import { demoSignIn } from '../demo/demo-operator.ts'
import { admitSite, keep, openDemo, sendTo } from '../demo/demo-partner.ts'
import { startSite } from '../demo/site.ts'
import { walkThrough } from '../demo/walk-through.ts'
import type { Command } from './command.ts'
import { connectPartner } from './partner-side/partner-api.ts'
import { makePeople } from './partner-side/people.ts'
import { runService, servingOptions } from './run-service.ts'

const demoCatalogue = new URL('../../assets/demo-catalogue.yaml', import.meta.url)

/** `enrolment dev`: what `npm start` runs. */
export const dev: Command = {
  name: 'dev',
  arguments: [],
  summary: 'Run a sandbox to try things out: demo catalogue, demo partner and its site, curl lines.',
  options: servingOptions,
  run: async input => {
    const config = readConfig(input.environment)
    await runService(input, config, 'sandbox', {
      prepare: async ({ database }) => {
        const folder = fileURLToPath(new URL('.', demoCatalogue))
        const parsed = await readWholeCatalogue(await readFile(demoCatalogue, 'utf8'), folder)
        if (!parsed.ok) throw new Error('the demo catalogue is not right')
        await publishVersion(database, {
          document: parsed.document,
          files: parsed.brought,
          at: Date.now(),
          by: 'enrolment dev',
        })
      },
      started: async running => {
        const path = join(running.dataDir, 'demo.json')
        const demo = await openDemo(path, running)
        const { baseUrl } = running.service
        const site = await startSite(baseUrl, demo)
        await keep(path, { ...demo, webhook: { ...demo.webhook, port: site.port } })
        // Before the inbox has an endpoint, so that it only shows the visitor's own actions.
        await makePeople(connectPartner(hereOf(running.service), demo), 'missing')
        await sendTo(site.url, demo, running)
        await admitSite(site.port, demo, running)
        const consoleLink = await demoSignIn(running)
        return {
          greeting: walkThrough({ baseUrl, demo, inbox: site.inbox, site: site.site, consoleLink }),
          close: () => site.close(),
        }
      },
    })
  },
}

/** The address at which this process itself reaches the service, whatever its public address is. */
function hereOf({ address, baseUrl }: { address: string; baseUrl: string }): string {
  return address + new URL(baseUrl).pathname.replace(/\/$/, '')
}
