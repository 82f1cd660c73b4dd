import { existsSync } from 'node:fs'
import type { DemoCredentials } from './demo-partner.ts'
import { type Receiver, startReceiver } from './receiver.ts'

/** The demo partner's site as `examples/gig-platform` starts it: it receives the webhooks, too. */
export type Site = Receiver & {
  /** The page to open first; `undefined` where there is only a receiver. */
  readonly site: string | undefined
}

type Platform = {
  startPlatform(settings: {
    service: string
    partnerId: string
    clientId: string
    clientSecret: string
    apiKey: string
    webhook: DemoCredentials['webhook']
  }): Promise<Site>
}

const example = new URL('../../../examples/gig-platform/platform.mjs', import.meta.url)

/** Starts the demo partner's site where the example is there, as in a checkout; else the bare receiver. */
export const startSite = async (service: string, demo: DemoCredentials): Promise<Site> => {
  if (!existsSync(example)) return { ...(await startReceiver(demo.webhook)), site: undefined }
  const { startPlatform } = (await import(example.href)) as Platform
  return startPlatform({
    service,
    partnerId: demo.partnerid,
    clientId: demo.clientid,
    clientSecret: demo.clientsecret,
    apiKey: demo.apikey,
    webhook: demo.webhook,
  })
}
