import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import type { CreateUser, LinkTokenRequest, Prefill } from '../../client/src/index.ts'
import { sql } from '../../service/src/db/sql.ts'
import { wholeRunTest } from '../long.ts'
import { readable } from '../readable.ts'
import { adaAsks, startTestService, type TestService } from '../rig.ts'
import { expectStored, orRefusal, standingOf, takeWalks, type Walker } from '../walks.ts'
import { ana, backTo } from './rig.ts'
import { newVisitor, type Shown, type Visitor } from './visitor.ts'
import { catalogues, forms } from './walks/given.ts'

/**
 * Walks of a person and their partner, stored in `walks/` with what the page says after each step:
 *
 * - `person {…}` is prefilled and `member {…}` is created, with these in place of what they usually have; `link {…}` opens a new link, `tile NAME`
 *   one with the deep link of that tile, and `browser NAME` takes another browser;
 * - `get PATH` and `post PATH FORM {…}` ask as a browser would, with the hidden fields of the last form, and those of one that `walks/given.ts` names.
 *   `keep NAME` keeps the version of that form as `@NAME`; somebody in the family is `@` and the first name;
 * - an answer is its view, its title and what a screen reader says by itself, after `!` where that has the focus; `read` tells all its words,
 *   `read WORDS` only of what has these, `unfold WORDS` also of what is folded, `copy` those of the copy that it leads to; `user`, `events` and
 *   `result` tell what the API then says;
 * - `api OPERATION {…}` is the partner's, `to INSTANT` moves its clock, `wait MINUTES` that of the world, and `catalogue NAME` publishes one that stands there.
 */
async function personIn(service: TestService, locale: 'en' | 'es'): Promise<Walker> {
  const partner = await service.newPartner({ name: 'Harbor Rides', redirects: [backTo] })
  const { client } = partner
  const userid = 'ana'
  const browsers = new Map<string, Visitor>()
  let browser = 'first'
  let shown: Shown | undefined
  let session = ''
  let told = 0
  /** What steps call by a name: people by their ids, and versions of forms. */
  const kept = new Map<string, string>()
  const references: string[] = []

  function visitor(): Visitor {
    return browsers.get(browser) ?? newVisitor(service.baseUrl)
  }
  function see(answer: Shown): string[] {
    shown = answer
    const boxes = answer.html.matchAll(/name="cover\.\w+" value="([^"]+)"[^>]*><span>(\w+)/g)
    for (const [, id = '', name = ''] of boxes) kept.set(name, id)
    const [, title = ''] = /<title>([^<]*?)(?: – [^<]*)?<\/title>/.exec(answer.html) ?? []
    return [`${answer.status} ${answer.view}: ${readable(title).join(' ')}`, ...heard(answer)]
  }
  async function open({ append, ...fields }: Readonly<Record<string, unknown>>): Promise<string[]> {
    const wish = { userid, locale, ...fields } as LinkTokenRequest
    const { linkurl, sessionid } = await client.createLinkToken(wish)
    session = sessionid
    const address = append === undefined ? `${linkurl}` : `${linkurl}?${append}`
    browsers.set(browser, newVisitor(service.baseUrl))
    await visitor().get(address)
    return see(await visitor().post(address))
  }
  async function events(): Promise<string[]> {
    const rows = await service.database.query<{ eventname: string }>(sql`
      select eventname from events where partner_id = ${partner.partnerId} order by position`)
    const fresh = rows.slice(told).map(({ eventname }) => eventname)
    told = rows.length
    return [fresh.join(', ') || 'no event']
  }
  async function ask(operation: string, fields: object): Promise<string[]> {
    const call = client[operation as 'getUser'] as (request: object) => Promise<unknown>
    const answer = await call({ userid, ...fields })
    return operation.startsWith('get') ? stringify(answer).trimEnd().split('\n') : []
  }
  async function tile(name: string, fields: Readonly<Record<string, unknown>>): Promise<string[]> {
    const tiles = await client.getBenefits({ ...adaAsks, userid, ...fields })
    const deeplinkdata = tiles.find(benefit => benefit.name === name)?.deeplinkdata
    return [`${deeplinkdata}`, ...(await open({ deeplinkdata }))]
  }
  async function read(how: string, about: string): Promise<string[]> {
    const { html = '' } = shown ?? {}
    // In another language the parts have other words, so all is read.
    const words = locale === 'en' ? about : ''
    // The heading is the title, which stands there already.
    if (how !== 'copy') return readable(html.replace(/<h1\b[\s\S]*?<\/h1>/, ''), words, how === 'unfold')
    const [, path = ''] = /href="(\/register\/copy\/[^"]+)"/.exec(html) ?? []
    return readable(await (await visitor().send(path)).text(), words)
  }

  async function take(word: string, target: string, fields: Fields): Promise<string[]> {
    const html = shown?.html ?? ''
    switch (word) {
      case 'person':
        await client.prefillUser({ userid, ...ana, ...fields } as Prefill)
        return []
      case 'member':
        await client.createUser({ userid, ...ana, ...usual, ...fields } as CreateUser)
        return []
      case 'link':
        return open(fields)
      case 'tile':
        return tile(target, fields)
      case 'browser':
        browser = target
        return []
      case 'keep':
        kept.set(target, /name="draft" value="([^"]+)"/.exec(html)?.[1] ?? '')
        return []
      case 'get':
        return see(await visitor().get(`/register/${target}`.replace(/\/$/, '')))
      case 'post':
        return see(await visitor().post(`/register/${target}`, fields))
      case 'user':
        return standingOf(client, userid)
      case 'events':
        return events()
      case 'result': {
        const { outcome, reference, completedat } = await client.exchangeResult({ sessionid: session })
        return [[outcome, reference, completedat].filter(Boolean).join(' ')]
      }
      case 'api':
        return ask(target, fields)
      case 'to':
        await client.advanceClock({ advanceto: target })
        return []
      case 'wait':
        service.advance(Number(target) * 60_000)
        return []
      case 'catalogue':
        await service.publish(catalogues[target] ?? '')
        // A process looks for a newer catalogue each second.
        service.advance(2000)
        return []
      default:
        throw new Error(`there is no step "${word}"`)
    }
  }
  /** Without what is another each time. */
  function steady(line: string): string {
    return [...kept]
      .reduce((known, [name, id]) => known.replaceAll(id, `@${name}`), line)
      .replace(/BE-\w{4}-\w{4}/g, reference => {
        if (!references.includes(reference)) references.push(reference)
        return `BE-${references.indexOf(reference) + 1}`
      })
      .replace(/[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{64}/g, 'ID')
      .replace(/(T\d\d:\d\d):\d\d\.\d{3}Z/g, '$1')
      .replaceAll(service.baseUrl, '')
      .replaceAll('→/register/', '→')
  }

  return async step => {
    const given = step.replace(/@(\w+)/g, (all, name) => kept.get(name) ?? all)
    const [, word = '', target = '', form = '', fields = '{}'] =
      /^(\w+) ?([^{ ]*) ?(\w*) ?(\{.*\})?$/.exec(given) ?? []
    const [, how, about = ''] = /^(read|unfold|copy) ?(.*)$/.exec(step) ?? []
    if (how !== undefined) return (await read(how, about)).map(steady)
    return (await orRefusal(take(word, target, { ...forms[form], ...parse(fields) }))).map(steady)
  }
}
/** What is said by itself: faults, and that something was saved. */
function heard({ html }: Shown): string[] {
  const [, main = ''] = /<main\b[^>]*>([\s\S]*)<\/main>/.exec(html) ?? []
  const notices = main.matchAll(/<(section|div|p)\b([^>]*role="(?:alert|status)"[^>]*)>([\s\S]*?)<\/\1>/g)
  return [...notices].flatMap(([, , how = '', words = '']) =>
    readable(words).map(line => `${/tabindex="-1"/.test(how) ? '!' : '~'} ${line}`),
  )
}
type Fields = Readonly<Record<string, string | readonly string[]>>
const usual = { offername: 'starter', benefits: ['dental'] }

const folder = new URL('walks/', import.meta.url)
const names = readdirSync(folder).flatMap(file => /^([\w-]+)\.txt$/.exec(file)?.[1] ?? [])

async function walkIn(locale: 'en' | 'es', name: string): Promise<Awaited<ReturnType<typeof takeWalks>>> {
  await using service = await startTestService()
  const walked = await takeWalks(new URL(`${name}.txt`, folder), () => personIn(service, locale))
  expect(service.logged.filter(({ event }) => event === 'failure')).toEqual([])
  return walked
}

test.each(names)('the page says in the walks of %s what is stored there', async name => {
  const { text } = await walkIn('en', name)
  await expectStored(text, new URL(`${name}.txt`, folder))
})

wholeRunTest('in Spanish it says on the same walks the lines that are stored, each once', async () => {
  const said: string[] = []
  for (const name of names) said.push(...(await walkIn('es', name)).said)
  const lines = [...new Set(said)].sort()
  await expectStored(`${lines.join('\n')}\n`, new URL('spanish/lines.txt', folder))
})
