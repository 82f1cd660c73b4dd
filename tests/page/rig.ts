import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { parseBenefits, parseConsents } from '../../service/src/registration/views/choices.ts'
import { parseDetails } from '../../service/src/registration/views/form.ts'
import type {
  Details,
  DetailsGroup,
  FieldError,
  Kept,
  Locale,
  Page,
  View,
} from '../../service/src/registration/views/model.ts'
import { renderPage } from '../../service/src/registration/views/page.ts'
import {
  checkTheme,
  parseThemeQuery,
  themeCss,
  themeQuery,
} from '../../service/src/registration/views/theme.ts'
import { ana, type Built, examples, iconOf } from './fixtures.ts'
import { hostPage } from './host-page.ts'

/** Three sites as browsers tell them apart, and a service that keeps one person's draft in memory. */
export interface Rig {
  /** The service, on 127.0.0.1. */
  readonly service: string
  /** The partner's site, on localhost. */
  readonly host: string
  /** A site that is nobody's, on localhost with another port. */
  readonly hostile: string
  readonly built: Built & { readonly directory: string; readonly integrity: string }
  /** What the service was told, in order: method and path, never more. */
  readonly requests: string[]
  /** How often the person was enrolled. */
  enrolled: number
  /** How the next forms are to be treated. */
  idleseconds: number
  mintToken(): string
  endToken(token: string): void
  endSessions(): void
  /** A new person with the prefilled details. */
  reset(): void
  close(): Promise<void>
}

interface Session {
  locale: Locale
  readonly shell: Page['shell']
  theme: string | undefined
}

interface Person {
  details: Details
  chosen: readonly string[]
  done: boolean
}

/** Starts the three sites; the browser files are built anew. */
export async function startRig(): Promise<Rig> {
  const built = buildBrowserFiles()
  const tokens = new Map<string, 'fresh' | 'used'>()
  const sessions = new Map<string, Session>()
  let person = newPerson()
  let host = ''

  const service = await listen('127.0.0.1', async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://service')
    if (!/^\/(page|icons|embed\/[\d.]+)\//.test(url.pathname)) {
      rig.requests.push(`${request.method} ${url.pathname.replace(/\/link\/.*/, '/link')}`)
    }
    await answer({ request, response, url, body: await readBody(request) })
  })
  const hostServer = await listen('localhost', (request, response) => hostPage(request, response, rig))
  const hostileServer = await listen('localhost', (request, response) => hostPage(request, response, rig))

  const rig: Rig = {
    service: `http://127.0.0.1:${portOf(service)}`,
    host: `http://localhost:${portOf(hostServer)}`,
    hostile: `http://localhost:${portOf(hostileServer)}`,
    built,
    requests: [],
    enrolled: 0,
    idleseconds: 3600,
    mintToken() {
      const token = `lt_${randomUUID()}`
      tokens.set(token, 'fresh')
      return token
    },
    endToken(token) {
      tokens.set(token, 'used')
    },
    endSessions() {
      sessions.clear()
    },
    reset() {
      person = newPerson()
      rig.requests.length = 0
      rig.enrolled = 0
      rig.idleseconds = 3600
    },
    async close() {
      for (const server of [service, hostServer, hostileServer]) {
        server.closeAllConnections()
        await new Promise(closed => server.close(closed))
      }
    },
  }
  host = rig.host
  return rig

  interface Exchange {
    readonly request: IncomingMessage
    readonly response: ServerResponse
    readonly url: URL
    readonly body: string
  }

  async function answer(exchange: Exchange) {
    const { request, response, url, body } = exchange
    const { pathname } = url
    if (pathname === '/page/theme.css') {
      const checked = parseThemeQuery(url.searchParams)
      return send(response, checked.ok ? 200 : 400, 'text/css', checked.ok ? themeCss(checked.theme) : '')
    }
    if (pathname.startsWith('/page/') || /^\/embed\/[\d.]+\//.test(pathname)) return file(response, pathname)
    if (pathname.startsWith('/icons/'))
      return send(response, 200, 'image/svg+xml', iconOf(pathname.slice(7, -4)))
    if (pathname === '/embed/frame') return sendFrame(response, url)
    if (pathname === '/embed/session') return openSession(response, JSON.parse(body))
    if (pathname.startsWith('/register/link/'))
      return link(exchange, pathname.slice('/register/link/'.length))
    const session = sessionOf(request)
    if (!session) {
      const shell = request.headers.authorization ? 'frame' : 'hosted'
      const ended = pageOf({ locale: 'en', shell, theme: undefined }, { session: false })
      return page(response, { view: 'LINK_ENDED', page: ended, kind: 'session' }, 401)
    }
    if (pathname === '/register/stay') return send(response, 204, 'text/plain', '')
    if (pathname === '/register/appearance') return changeLook(response, session, JSON.parse(body))
    const path = pathname.slice('/register'.length).replace(/^\//, '')
    if (request.method === 'POST') return post(response, session, path, new URLSearchParams(body))
    if (path === '') return redirect(response, person.done ? 'done' : 'start')
    page(response, viewOf(session, path))
  }

  function viewOf(
    session: Session,
    path: string,
    wrong: { errors?: readonly FieldError[]; kept?: Kept } = {},
  ): View {
    const found = examples(session.locale, built, session.shell)
    const example = (name: string) => {
      const one = found.find(candidate => candidate.name === name)
      if (!one) throw new Error(`no such example: ${name}`)
      return one.view
    }
    const at = pageOf(session)
    const step = (number: number) => ({ ...at, step: { at: number, of: 3 } })
    const [first, group = 'name'] = path.split('/')
    if (first === 'start') return { ...example('start'), page: at }
    if (first === 'details' && path.includes('/')) {
      const view = { view: 'DETAILS_EDIT', page: step(1), group: group as DetailsGroup } as const
      return { ...view, details: person.details, ...wrong }
    }
    if (first === 'details') {
      return { view: 'DETAILS_REVIEW', page: step(1), details: person.details, missing: [], suggested: [] }
    }
    const benefits = example('benefits')
    if (benefits.view !== 'BENEFITS') throw new Error('not benefits')
    if (first === 'benefits') {
      const chosen = wrong.kept ? Object.keys(wrong.kept) : person.chosen
      const cards = benefits.cards.map(card => ({ ...card, selected: chosen.includes(card.name) }))
      return { ...benefits, cards, page: step(2), ...(wrong.errors ? { errors: wrong.errors } : {}) }
    }
    const check = example('check-answers')
    if (check.view !== 'CHECK_ANSWERS') throw new Error('not the answers')
    if (first === 'check' || first === 'enrol') {
      return {
        ...check,
        details: person.details,
        page: step(3),
        ...(wrong.errors ? { errors: wrong.errors } : {}),
      }
    }
    if (first === 'done') return { ...example('done'), page: at }
    return { ...example('problem-notfound'), page: at }
  }

  function post(response: ServerResponse, session: Session, path: string, form: URLSearchParams) {
    const language = form.get('language')
    if (language === 'en' || language === 'es') {
      session.locale = language
      if (path === 'language') return redirect(response, viewPaths[form.get('view') ?? ''] ?? 'start')
      const kept = Object.fromEntries(form.getAll('benefit').map(name => [name, 'chosen']))
      const typed = path === 'benefits' ? kept : Object.fromEntries(form)
      return page(response, viewOf(session, path, { kept: typed }))
    }
    if (path === 'start') return redirect(response, 'details')
    if (path === 'details') return redirect(response, 'benefits')
    if (path.startsWith('details/')) {
      const parsed = parseDetails(path.slice(8) as DetailsGroup, form, '2026-11-20')
      if (!parsed.ok) return page(response, viewOf(session, path, parsed), 422)
      const { zipcode: _, ...details } = parsed.values
      person.details = { ...person.details, ...details }
      return redirect(response, 'details')
    }
    if (path === 'benefits') {
      const selectable = ['accident', 'dental', 'vision']
      const parsed = parseBenefits(form, { selectable, slots: 2, required: false })
      if (!parsed.ok) return page(response, viewOf(session, path, parsed), 422)
      person.chosen = parsed.values
      return redirect(response, 'check')
    }
    if (path !== 'enrol') return page(response, viewOf(session, 'nowhere'), 404)
    const parsed = parseConsents(form, [{ name: 'terms', version: '2026-10' }])
    if (!parsed.ok) return page(response, viewOf(session, path, { errors: parsed.errors }), 422)
    rig.enrolled += 1
    person.done = true
    redirect(response, 'done')
  }

  function link({ request, response, body }: Exchange, token: string) {
    const form = new URLSearchParams(body)
    const locale = form.get('language') === 'es' ? 'es' : 'en'
    const at = pageOf({ locale, shell: 'hosted', theme: undefined }, { session: false })
    if (tokens.get(token) !== 'fresh')
      return page(response, { view: 'LINK_ENDED', page: at, kind: 'link' }, 410)
    if (request.method === 'GET' || form.has('language')) {
      return page(response, { view: 'OPEN', page: at, action: `/register/link/${token}` })
    }
    tokens.set(token, 'used')
    const id = randomUUID()
    sessions.set(id, { locale: 'en', shell: 'hosted', theme: undefined })
    response.setHeader('set-cookie', `enrolment=${id}; Path=/; HttpOnly; SameSite=Lax`)
    redirect(response, '')
  }

  function openSession(
    response: ServerResponse,
    asked: { linktoken: string; origin: string; locale?: Locale; appearance?: unknown },
  ) {
    const refuse = (status: number, code: string) => {
      const at = pageOf(
        { locale: asked.locale ?? 'en', shell: 'frame', theme: undefined },
        { session: false },
      )
      const html = renderPage({ view: 'LINK_ENDED', page: at, kind: 'link' })
      send(response, status, 'application/json', JSON.stringify({ code, html }))
    }
    if (asked.origin !== host) return refuse(403, 'ORIGIN_NOT_ALLOWED')
    if (tokens.get(asked.linktoken) !== 'fresh') return refuse(401, 'LINK_TOKEN_ENDED')
    tokens.set(asked.linktoken, 'used')
    const session: Session = { locale: asked.locale ?? 'en', shell: 'frame', theme: undefined }
    const problems = asked.appearance === undefined ? [] : applyLook(session, asked.appearance)
    const handle = randomUUID()
    sessions.set(handle, session)
    const html = renderPage(viewOf(session, person.done ? 'done' : 'start'))
    const opened = { handle, sessionid: randomUUID(), resulttoken: `rt_${randomUUID()}`, problems, html }
    send(response, 200, 'application/json', JSON.stringify(opened))
  }

  function changeLook(response: ServerResponse, session: Session, asked: { appearance: unknown }) {
    const problems = applyLook(session, asked.appearance)
    const { stylesheets } = pageOf(session)
    send(response, 200, 'application/json', JSON.stringify({ stylesheets, problems }))
  }

  function applyLook(session: Session, appearance: unknown): readonly string[] {
    const checked = checkTheme(appearance)
    if (!checked.ok) return checked.problems
    session.theme = `/page/theme.css?${themeQuery(checked.theme)}`
    return []
  }

  function sendFrame(response: ServerResponse, url: URL) {
    const locale = url.searchParams.get('locale') === 'es' ? 'es' : 'en'
    const at = pageOf({ locale, shell: 'frame', theme: undefined }, { session: false })
    page(response, { view: 'FRAME', page: at, origins: [host], sessionurl: '/embed/session' })
  }

  function pageOf(session: Session, { session: living } = { session: true }): Page {
    const { locale, shell, theme } = session
    return {
      ...{ shell, locale, zone: 'America/New_York', root: '/register', script: built.script },
      partner: { displayname: 'Harbor Rides' },
      help: { phone: '1-800-555-0142' },
      stylesheets: theme ? [...built.stylesheets, theme] : built.stylesheets,
      ...(living ? { idleseconds: rig.idleseconds, draft: '1' } : {}),
    }
  }

  function sessionOf({ headers }: IncomingMessage): Session | undefined {
    const handle = /^Session (.+)$/.exec(headers.authorization ?? '')?.[1]
    const cookie = /enrolment=([^;]+)/.exec(headers.cookie ?? '')?.[1]
    return sessions.get(handle ?? cookie ?? '')
  }

  function page(response: ServerResponse, view: View, status = 200) {
    const framed = view.view === 'FRAME'
    response.setHeader('content-security-policy', `${policy}; frame-ancestors ${framed ? host : "'none'"}`)
    if (framed) {
      response.setHeader('cross-origin-embedder-policy', 'require-corp')
      response.setHeader('cross-origin-resource-policy', 'cross-origin')
    }
    response.setHeader('cache-control', 'no-store')
    response.setHeader('referrer-policy', 'no-referrer')
    send(response, status, 'text/html; charset=utf-8', renderPage(view))
  }

  function file(response: ServerResponse, pathname: string) {
    const name = pathname.split('/').at(-1) ?? ''
    response.setHeader('access-control-allow-origin', '*')
    response.setHeader('cross-origin-resource-policy', 'cross-origin')
    const type = name.endsWith('.css') ? 'text/css' : 'text/javascript'
    send(response, 200, type, readFileSync(join(built.directory, name), 'utf8'))
  }
}

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'"

const viewPaths: Readonly<Record<string, string>> = {
  START: 'start',
  DETAILS_REVIEW: 'details',
  DONE: 'done',
}

function newPerson(): Person {
  return { details: ana, chosen: [], done: false }
}

/** Builds the browser files where no other test looks. */
function buildBrowserFiles(): Rig['built'] {
  const directory = mkdtempSync(join(tmpdir(), 'enrolment-page-'))
  execFileSync(process.execPath, ['scripts/build-browser.mjs', directory])
  buildSync({
    entryPoints: ['tests/page/react-app.mjs'],
    outfile: join(directory, 'react.js'),
    bundle: true,
    conditions: ['source'],
    define: { 'process.env.NODE_ENV': '"development"' },
  })
  const manifest: { script: string; stylesheet: string; embed: { integrity: string } } = JSON.parse(
    readFileSync(join(directory, 'manifest.json'), 'utf8'),
  )
  return {
    directory,
    script: `/page/${manifest.script}`,
    stylesheets: [`/page/${manifest.stylesheet}`],
    integrity: manifest.embed.integrity,
  }
}

function listen(
  hostname: string,
  handle: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<Server> {
  const server = createServer((request, response) => void handle(request, response))
  return new Promise(ready => server.listen(0, hostname, () => ready(server)))
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

function send(response: ServerResponse, status: number, type: string, body: string) {
  response.writeHead(status, { 'content-type': type }).end(body)
}

function redirect(response: ServerResponse, path: string) {
  response.writeHead(303, { location: path ? `/register/${path}` : '/register' }).end()
}
