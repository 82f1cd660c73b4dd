/// <reference lib="dom" />
import type { Browser, Page, Request } from 'playwright-core'
import { expect } from 'vitest'
import { acts } from '../../service/src/console/acts/all.ts'
import { screens } from '../../service/src/console/screens.ts'
import { hasRight, type Right, type Role } from '../../service/src/operators/operator.ts'
import { axe, violationsOf } from '../page/axe.ts'
import { deedsOf } from './deeds.ts'
import { type Keyboard, openKeyboard } from './keyboard.ts'
import { consoleOf } from './operator-browser.ts'
import { CANARIES, type Populated, type SignedInPage, signInPage } from './populated.ts'

const looks = [
  ['light', 768],
  ['dark', 1280],
  ['light', 1280],
  ['dark', 768],
] as const

/** Walks of operators through a console, by keyboard alone. */
export type Walks = {
  /** Signs a new operator in. `texts` gives the text of every answer that its browser got. */
  readonly enter: (
    role: Role,
    partners?: readonly string[],
  ) => Promise<
    SignedInPage & { readonly keyboard: Keyboard; readonly texts: () => Promise<readonly string[]> }
  >
  /** Counts what a page opens and sends, as `enter` does by itself. */
  readonly countWalk: (page: Page) => void
  /** Checks the page with axe, and that all of it fits, in one of the four looks by turns; browser.test.ts takes all four. */
  readonly looksRight: (page: Page) => Promise<void>
  /** Follows every link, from the first page on, and returns the addresses; those in `refused` must be refused. */
  readonly followLinks: (page: Page, refused?: readonly string[]) => Promise<readonly string[]>
  /** The address of a path, with values of this console for the names in it. */
  readonly addressOf: (path: string) => string
  readonly findUser: (keyboard: Keyboard, what: string) => Promise<void>
  /** Goes through an act: choose, see what it would do, say why, do it. */
  readonly act: (
    keyboard: Keyboard,
    title: string,
    fill: () => Promise<void>,
    button: string,
  ) => Promise<void>
  /** What an operator did, without what it looked at. */
  readonly actsOf: (operatorId: string) => Promise<readonly string[]>
  /** Those of these routes that no walk has opened or sent to with success. */
  readonly missedOf: (routes: readonly string[]) => readonly string[]
}

/** Opens the walks through one console. */
export function openWalks(populated: Populated, browser: Browser): Walks {
  /** How often each address was opened or sent to, less the refusals. */
  const walked = new Map<string, number>()
  const count = (request: Request, by: 1 | -1) => {
    if (!request.isNavigationRequest()) return
    const address = `${request.method()} ${new URL(request.url()).pathname}`
    walked.set(address, (walked.get(address) ?? 0) + by)
  }
  const countWalk = (page: Page) => {
    page.on('request', request => count(request, 1))
    page.on('response', response => response.status() >= 400 && count(response.request(), -1))
  }
  let turn = 0
  const looksRight = async (page: Page) => {
    turn += 1
    const [colorScheme, width] = looks[turn % looks.length] ?? looks[0]
    await page.evaluate(axe)
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 900 })
    const found = await page.evaluate(violationsOf)
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
    const where = [page.url(), width, colorScheme]
    expect([...where, found, overflow <= 0]).toEqual([...where, [], true])
  }
  return {
    countWalk,
    looksRight,
    async enter(role, partners) {
      const { service } = populated
      const signedIn = await signInPage({ browser, service }, role, {
        bypassCSP: true,
        ...(partners ? { partners } : {}),
      })
      const { page } = signedIn
      countWalk(page)
      await page.reload()
      const answers: Promise<string>[] = []
      page.on('response', response => answers.push(response.text().catch(() => '')))
      const texts = async () => [...(await Promise.all(answers)), await page.content()]
      return { ...signedIn, keyboard: openKeyboard(page), texts }
    },
    async followLinks(page, refused = []) {
      const base = consoleOf(populated.service)
      const waiting = ['/']
      // A list has as many addresses as it can be sorted and filtered; one of each kind is enough.
      const kinds = new Set(waiting)
      const opened: string[] = []
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const answer = await page.goto(base + next)
        expect([next, answer?.status()]).toEqual([next, refused.includes(next) ? 403 : 200])
        opened.push(next)
        const links = await page
          .locator('a[href]')
          .evaluateAll(all => all.map(one => (one as HTMLAnchorElement).href))
        for (const link of links) {
          const { origin, pathname, searchParams, search } = new URL(link)
          const kind = `${pathname} ${[...searchParams.keys()].join(' ')}`
          if (origin !== base || kinds.has(kind) || /\.csv$|certificate$/.test(pathname)) continue
          kinds.add(kind)
          waiting.push(pathname + search)
        }
      }
      return opened
    },
    addressOf(path) {
      const { serviceid, webhookid, partner } = populated
      const values: Readonly<Record<string, string>> = {
        serviceid,
        endpointid: webhookid,
        partnerid: partner.partnerId,
        act: 'cancel',
        version: '1',
        eventid: serviceid,
        requestid: serviceid,
      }
      const query = /audit|due/.test(path) ? `?partner=${partner.partnerId}` : ''
      return (
        consoleOf(populated.service) +
        path.replace(/:(\w+)/g, (_, name: string) => values[name] ?? '') +
        query
      )
    },
    async findUser({ page }, what) {
      await page.keyboard.press('/')
      await page.keyboard.type(what)
      await Promise.all([page.waitForURL('**/users/*'), page.keyboard.press('Enter')])
    },
    async act(keyboard, title, fill, button) {
      const { page } = keyboard
      if (!(await keyboard.link(title).isVisible())) await keyboard.unfold('More')
      await keyboard.follow(keyboard.link(title))
      await looksRight(page)
      await fill()
      await keyboard.send('See what it would do')
      await page.getByRole('heading', { name: 'What would happen' }).waitFor()
      await looksRight(page)
      await keyboard.send(button, `reason-canary ${title}`)
    },
    async actsOf(operatorId) {
      const deeds = await deedsOf(populated.service, { operatorId })
      return deeds
        .filter(({ action }) => !/^look|^find$|^sign/.test(action))
        .map(({ action, result, because }) => `${action} ${result}${because ? ' because' : ''}`)
    },
    missedOf: routes =>
      routes.filter(route => {
        const [method = '', path = ''] = route.split(' ')
        return ![...walked].some(
          ([address, times]) =>
            times > 0 &&
            address.startsWith(`${method} `) &&
            patternOf(path).test(address.slice(method.length + 1)),
        )
      }),
  }
}

/** What fits an address of this path. */
export function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/:\w+/g, '[^/?]+')}(\\?|$)`)
}

/** The screens that a role may open, and those that it may not, by their paths. */
export function pathsOf(role: Role): {
  readonly open: readonly string[]
  readonly closed: readonly string[]
} {
  // What developers have is for them alone, and has a test of its own.
  const ours = screens.filter(one => one.right !== 'rotate')
  const shown = ours.filter(({ method, path }) => method === 'GET' && !path.endsWith('.csv'))
  const may = (right: Right) => hasRight({ role }, right)
  return {
    open: shown.filter(one => may(one.right)).map(({ path }) => path),
    closed: ours.filter(one => one.method === 'GET' && !may(one.right)).map(({ path }) => path),
  }
}

/** What a person does not read outside *Details*, code and files, of what these pages say: names and ids of the code, and clock times. */
export function identifiersIn(pages: readonly string[]): readonly string[] {
  return pages
    .filter(page => page.startsWith('<!doctype'))
    .map(page =>
      page
        .replace(/<head>[\s\S]*?<\/head>/, '')
        .replace(/<details[^>]*>\s*<summary>([\s\S]*?)<\/summary>[\s\S]*?<\/details>/g, '$1')
        .replace(/<(code|kbd)\b[\s\S]*?<\/\1>/g, '')
        .replace(/<span class="clock">[^<]*<\/span>/g, '')
        .replace(/<[^>]*>/g, ' '),
    )
    .flatMap(words => words.match(IDENTIFIERS) ?? [])
}

const IDENTIFIERS =
  /\b[a-z]+_[a-z_]+\b|[\da-f]{8}-[\da-f]{4}-[\da-f-]{22}|\b(?:endsatage|getUser|voluntary|void)\b|\d:\d\d [AP]M\b/g

/** What a viewer must see nowhere, of what these texts have. */
export function canariesIn(texts: readonly string[]): readonly string[] {
  return CANARIES.filter(canary => texts.some(text => text.includes(canary)))
}

// Signing in at an identity provider has walks of its own, in sign-in-browser.test.ts and https-proxy.test.ts.
const signing = ['GET', 'POST'].map(method => `${method} /sign-in/:token`)

/**
 * Each address of the console and each act as a route, in two parts: what the walks of roles-admin.test.ts open and send to, and
 * the rest, for those of roles.test.ts.
 */
export function routesOf(part: 'admin' | 'others'): readonly string[] {
  const all = screens
    .filter(({ right }) => right !== 'rotate')
    .flatMap(({ method, path, right }) => {
      const isAdmins = right === 'administer' || right === 'revoke'
      const paths = path.endsWith('/:act') ? acts.map(one => path.replace(':act', one.name)) : [path]
      return paths.map(one => ({ route: `${method} ${one}`, isAdmins }))
    })
  const routes = all.filter(({ isAdmins }) => isAdmins === (part === 'admin')).map(({ route }) => route)
  return part === 'admin' ? [...routes, ...signing, 'POST /sign-out'] : routes
}
