import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseCatalogue } from '../catalogue/parse.ts'
import { publishVersion } from '../catalogue/published.ts'
import { readConfig } from '../config.ts'
import { keep, openDemo, sendTo } from '../demo/demo-partner.ts'
import { startReceiver } from '../demo/receiver.ts'
import { walkThrough } from '../demo/walk-through.ts'
import type { Command } from './command.ts'
import { runService, servingOptions } from './run-service.ts'

const demoCatalogue = new URL('../../assets/demo-catalogue.yaml', import.meta.url)

/** `enrolment dev`: what `npm start` runs. */
export const dev: Command = {
  name: 'dev',
  arguments: [],
  summary:
    'Run a sandbox to try things out: demo catalogue, demo partner, receiver of its webhooks, curl lines.',
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
        const receiver = await startReceiver(demo.webhook)
        await keep(path, { ...demo, webhook: { ...demo.webhook, port: receiver.port } })
        await sendTo(receiver.url, demo, running)
        return {
          greeting: walkThrough({ baseUrl: running.service.baseUrl, demo, inbox: receiver.inbox }),
          close: () => receiver.close(),
        }
      },
    })
  },
}
