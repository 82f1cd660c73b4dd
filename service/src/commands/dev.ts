import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseCatalogue } from '../catalogue/parse.ts'
import { publishVersion } from '../catalogue/published.ts'
import { readConfig } from '../config.ts'
import { admitSite, keep, openDemo, sendTo } from '../demo/demo-partner.ts'
import { startSite } from '../demo/site.ts'
import { walkThrough } from '../demo/walk-through.ts'
import type { Command } from './command.ts'
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
        const parsed = parseCatalogue(await readFile(demoCatalogue, 'utf8'))
        if (!parsed.ok) throw new Error('the demo catalogue is not right')
        await publishVersion(database, { document: parsed.document, at: Date.now(), by: 'enrolment dev' })
      },
      started: async running => {
        const path = join(running.dataDir, 'demo.json')
        const demo = await openDemo(path, running)
        const { baseUrl } = running.service
        const site = await startSite(baseUrl, demo)
        await keep(path, { ...demo, webhook: { ...demo.webhook, port: site.port } })
        await sendTo(site.url, demo, running)
        await admitSite(site.port, demo, running)
        return {
          greeting: walkThrough({ baseUrl, demo, inbox: site.inbox, site: site.site }),
          close: () => site.close(),
        }
      },
    })
  },
}
