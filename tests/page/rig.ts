import { mkdtempSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildSync } from 'esbuild'
import type { LinkTokenRequest, Prefill } from '../../client/src/index.ts'
import { sql } from '../../service/src/db/sql.ts'
import { changePartner } from '../../service/src/partners/administer.ts'
import { partnerOf } from '../../service/src/partners/keys.ts'
import { findPartners } from '../../service/src/partners/store.ts'
import { addEndpoint } from '../../service/src/webhooks/endpoint/endpoints.ts'
import { startTestService, type TestPartner, type TestService } from '../rig.ts'
import { hostPage } from './host-page.ts'

/** The prefilled person of most tests. */
export const ana = {
  firstname: 'Ana María',
  lastname: 'Ruiz Delgado',
  dob: '1990-03-27',
  email: 'ana.ruiz@example.com',
  phone: '3055550134',
  address: {
    addline1: '1200 Brickell Ave',
    addline2: 'Apt 5B',
    addline3: '',
    city: 'Miami',
    state: 'FL',
    zipcode: '33131',
  },
} as const satisfies Partial<Prefill>

/** The built files that a page loads. */
type Built = { readonly stylesheets: readonly string[]; readonly script: string; readonly icon: string }

/** Three sites that browsers treat as different: the real service, a partner's site, and a hostile one. */
export type Rig = {
  /** The service, on 127.0.0.1. */
  readonly service: string
  /** The partner's site, on localhost. */
  readonly host: string
  /** A hostile site, on localhost with another port. */
  readonly hostile: string
  readonly built: Built & { readonly directory: string; readonly integrity: string; readonly dropIn: string }
  readonly running: TestService
  readonly partner: TestPartner
  /** The person of this test; `newPerson` makes another. */
  readonly userid: () => string
  /** A new person, prefilled unless told otherwise. */
  newPerson(prefill?: Partial<Prefill> | 'unknown'): Promise<string>
  /** The address of a hosted link. */
  mintLink(more?: Partial<LinkTokenRequest>): Promise<string>
  /** A token for the embed. */
  mintToken(more?: Partial<LinkTokenRequest>): Promise<string>
  /** Revokes everything minted for this person: links, and living sessions. */
  endSessions(): Promise<void>
  /** The names of the events raised for this person, oldest first. */
  events(): Promise<readonly string[]>
  /** Sends all events of the partner to a receiver, from now on. */
  addWebhook(url: string): Promise<void>
  close(): Promise<void>
}

/** The only registered address that the page may lead back to. */
export const backTo = 'http://localhost:4/benefits'

/** Starts the three sites. The browser's files must be built: `npm test` does so. */
export async function startRig(
  options: Pick<NonNullable<Parameters<typeof startTestService>[0]>, 'startAt' | 'drafts' | 'catalogue'> = {},
): Promise<Rig> {
  const running = await startTestService(options)
  const partner = await running.newPartner({ name: 'Harbor Rides' })
  const hostServer = await listen((request, response) => hostPage(request, response, rig))
  const hostileServer = await listen((request, response) => hostPage(request, response, rig))
  const host = `http://localhost:${portOf(hostServer)}`
  await changePartner(partner.partnerId, { origins: [host], redirects: [backTo] }, running.manage)
  let userid = ''
  let people = 0
  let minted: string[] = []

  const rig: Rig = {
    service: running.baseUrl,
    host,
    hostile: `http://localhost:${portOf(hostileServer)}`,
    built: browserFiles(),
    running,
    partner,
    userid: () => userid,
    async newPerson(prefill = {}) {
      people += 1
      userid = `person-${people}`
      minted = []
      if (prefill !== 'unknown') await partner.client.prefillUser({ userid, ...ana, ...prefill })
      return userid
    },
    async mintLink(more = {}) {
      const wish = { userid, offername: 'starter', ...more }
      const { linkurl, sessionid } = await partner.client.createLinkToken(wish)
      minted.push(sessionid)
      if (linkurl === null) throw new Error('a link for the embed has no address')
      return linkurl
    },
    async mintToken(more = {}) {
      const wish = { userid, offername: 'starter', delivery: 'embed', ...more } as const
      const { linktoken, sessionid } = await partner.client.createLinkToken(wish)
      minted.push(sessionid)
      return linktoken
    },
    async endSessions() {
      for (const sessionid of minted) await partner.client.revokeLinkToken({ sessionid })
    },
    async events() {
      const rows = await running.database.query<{ eventname: string }>(sql`
        select eventname from events where partner_id = ${partner.partnerId} and userid = ${userid}
        order by position`)
      return rows.map(({ eventname }) => eventname)
    },
    async addWebhook(url) {
      const [row] = await findPartners(running.database, [partner.partnerId])
      if (!row) throw new Error('the partner is missing')
      const owner = partnerOf(row, running.keyring)
      const wish = { partner: owner, url, username: 'harbor', password: 'pilot', events: 'all' } as const
      const context = { rules: { sandbox: true, allow: [] }, real: running.now }
      const made = await addEndpoint(running.database, wish, context)
      if ('refused' in made) throw new Error(JSON.stringify(made.refused))
    },
    async close() {
      for (const server of [hostServer, hostileServer]) {
        server.closeAllConnections()
        await new Promise(closed => server.close(closed))
      }
      await running[Symbol.asyncDispose]()
    },
  }
  return rig
}

function browserFiles(): Rig['built'] {
  const directory = new URL('../../service/dist/page/', import.meta.url).pathname
  const manifest: {
    script: string
    stylesheet: string
    icon: string
    embed: { version: string; file: string; integrity: string }
  } = JSON.parse(readFileSync(join(directory, 'manifest.json'), 'utf8'))
  const { script, stylesheet, icon, embed } = manifest
  return {
    directory,
    script: `/page/${script}`,
    icon: `/page/${icon}`,
    stylesheets: [`/page/${stylesheet}`],
    integrity: embed.integrity,
    dropIn: `/embed/${embed.version}/${embed.file}`,
  }
}

let reactApp: string | undefined

/** The React example, built only once for all tests. */
export function reactScript(): string {
  if (reactApp) return reactApp
  const outfile = join(mkdtempSync(join(tmpdir(), 'enrolment-react-')), 'react.js')
  buildSync({
    entryPoints: ['tests/page/react-app.mjs'],
    outfile,
    bundle: true,
    conditions: ['source'],
    define: { 'process.env.NODE_ENV': '"development"' },
  })
  reactApp = readFileSync(outfile, 'utf8')
  return reactApp
}

function listen(handle: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<Server> {
  const server = createServer((request, response) => void handle(request, response))
  return new Promise(ready => server.listen(0, 'localhost', () => ready(server)))
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}
