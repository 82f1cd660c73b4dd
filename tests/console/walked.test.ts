import { readdirSync } from 'node:fs'
import { test } from 'vitest'
import { parse } from 'yaml'
import { writePolicy } from '../../service/src/console/requests/store.ts'
import type { Role } from '../../service/src/operators/operator.ts'
import { catalogues } from '../page/walks/given.ts'
import { readable } from '../readable.ts'
import { ada, startTestService, type TestService } from '../rig.ts'
import { expectWalked, orRefusal, standingOf, type Walker } from '../walks.ts'
import { deedsOf } from './deeds.ts'
import { type OperatorBrowser, type Shown, signIn } from './operator-browser.ts'

/**
 * Walks of operators, stored in `walks/` with what the console says after each step:
 *
 * - `as ROLE` and `as ROLE NAME` take the browser of an operator of that role, `as ROLE NAME elsewhere` of one who works for another partner;
 * - `get PATH`, `post PATH {…}` and `find WHAT` are asked there; `do {…}` sends the last form again, having seen what it would do; `read` tells all
 *   words of the answer, `read WORDS` only of what has these, `unfold WORDS` also of what is folded;
 * - `api OPERATION {…}` is what the partner does for somebody like Ada, `$NAME` is the serviceid of a user, and that of a choice in a form; `user`,
 *   `events` and `deeds` tell what then is: of the user for the API, since the last time for the partner, and of the operator on record. `user` comes
 *   after any page that tells who looked: the partner's look is on record a second later, which a slow walk would read and a quick one not;
 * - `to INSTANT` moves the partner's clock, `wait MINUTES` that of the world, `policy ACT on` sets what needs a second person.
 */
async function operatorsOf(service: TestService): Promise<Walker> {
  const { client, partnerId } = await service.newPartner({ name: 'Harbor Rides', retain: '7y' })
  const browsers = new Map<string, OperatorBrowser>()
  const named = new Map([['PARTNER', partnerId]])
  const heard = new Map<string, number>()
  let operator: OperatorBrowser | undefined
  let shown: Shown | undefined
  let sent: { readonly path: string; readonly fields: Fields } = { path: '', fields: {} }
  let hasPartnerLooked = false
  let seen = ''

  async function take(key: string): Promise<void> {
    const elsewhere = key.endsWith(' elsewhere') ? [(await service.newPartner()).partnerId] : undefined
    operator = browsers.get(key) ?? (await signIn(service, key.split(' ')[0] as Role, elsewhere))
    browsers.set(key, operator)
  }
  function by(): OperatorBrowser {
    if (!operator) throw new Error('nobody is signed in')
    return operator
  }
  function see(answer: Shown): string[] {
    shown = answer
    const [, token] = /name="seen" value="([^"]+)"/.exec(answer.text) ?? []
    if (token !== undefined) seen = token.replaceAll('&quot;', '"')
    const choices = answer.text.matchAll(/<option value="([^"]{36,})"[^>]*>(\w+)(?:, the (\w+))?/g)
    for (const [, id = '', what = '', whose] of choices) named.set(whose ? `${what}-${whose}` : what, id)
    const [, kind = '', id = ''] = /^\/(requests|users)\/([\da-f-]{36})$/.exec(answer.path) ?? []
    if (id && ![...named.values()].includes(id))
      named.set(`${kind}${[...named.keys()].filter(key => key.startsWith(kind)).length + 1}`, id)
    const [, title = ''] = /<title>([^<]*?)(?: – [^<]*)?<\/title>/.exec(answer.text) ?? []
    return [`${answer.status} ${answer.path}: ${readable(title).join(' ')}`]
  }
  async function post(path: string, fields: Fields): Promise<string[]> {
    sent = { path, fields }
    return see(await by().post(path, fields))
  }
  async function ask(operation: string, fields: Readonly<Record<string, unknown>>): Promise<string[]> {
    const isOfPerson = /^(create|prefill)User$/.test(operation)
    const call = client[operation as 'createUser'] as (request: object) => Promise<{ serviceid: string }>
    const answer = await call({ ...(isOfPerson ? ada : {}), ...fields })
    if (operation === 'createUser') named.set(String(fields['userid']), answer.serviceid)
    return []
  }
  async function events(): Promise<string[]> {
    const { events } = await client.listEvents({})
    const fresh = events.slice(heard.get('events') ?? 0).map(({ eventname }) => eventname)
    heard.set('events', events.length)
    return [fresh.join(', ') || 'no event']
  }
  async function deeds(): Promise<string[]> {
    const all = (await deedsOf(service, by())).filter(({ action }) => !/^(look$|find|sign)/.test(action))
    const from = heard.get(by().operatorId) ?? 0
    heard.set(by().operatorId, all.length)
    return all.slice(from).map(one => `${one.action} ${one.result}${one.because ? ' because' : ''}`)
  }

  async function step(word: string, target: string, fields: Fields): Promise<string[]> {
    switch (word) {
      case 'as':
        await take(target)
        return []
      case 'get':
        sent = { path: target, fields: {} }
        return see(await by().get(target))
      case 'post':
        return post(target, fields)
      case 'find':
        return post('/find', { what: target })
      case 'do':
        return see(await by().post(sent.path, { ...sent.fields, sure: 'yes', seen, ...fields }))
      case 'api':
        return ask(target, fields)
      case 'user':
        hasPartnerLooked = true
        return standingOf(client, target)
      case 'events':
        return events()
      case 'deeds':
        return deeds()
      case 'to':
        await client.advanceClock({ advanceto: target })
        return []
      case 'wait':
        service.advance(Number(target) * 60_000)
        return []
      case 'policy': {
        const [act = '', isOn] = target.split(' ')
        await writePolicy(service.database, act as 'erase', isOn === 'on')
        return []
      }
      case 'catalogue':
        await service.publish(catalogues[target] ?? '')
        service.advance(2000)
        return []
      default:
        throw new Error(`there is no step "${word}"`)
    }
  }
  /** Without what is another each time. */
  function steady(line: string): string {
    return (
      [...named]
        .reduce((known, [name, id]) => known.replaceAll(id, `$${name}`), line)
        .replace(/[0-9a-f]{8}-[0-9a-f-]{27}|\b[0-9a-f]{12}\b|\benr_\w+|\/link\/\w+/g, 'ID')
        .replace(/…[0-9a-f]{4}\b/g, '…')
        // Two that were made at one instant stand in any order.
        .replace(/^- (?:API key|Client secret) · \w{10} ·/, '- a credential ·')
        .replace(/\b(viewer|support|admin|developer)-[0-9a-f]{8}\b/g, '$1')
        .replace(/(T\d\d:\d\d):\d\d\.\d{3}Z/g, '$1Z')
        .replaceAll(service.baseUrl, '')
    )
  }

  return async one => {
    const given = one.replace(/\$([\w-]+)/g, (all, name) => named.get(name) ?? all)
    const [, word = '', target = '', fields = '{}'] = /^(\w+) ?([^{]*?) ?(\{.*\})?$/.exec(given) ?? []
    if (word === 'read' || word === 'unfold') {
      const lines = readable(shown?.text ?? '', target, word === 'unfold')
      if (hasPartnerLooked && lines.includes('Who looked and worked here'))
        throw new Error('`user` comes after a page that tells who looked')
      return lines.map(steady)
    }
    return (await orRefusal(step(word, target, parse(fields)))).map(steady)
  }
}
type Fields = Readonly<Record<string, string>>

const folder = new URL('walks/', import.meta.url)
const names = readdirSync(folder).flatMap(file => /^([\w-]+)\.txt$/.exec(file)?.[1] ?? [])

test.each(names)('the console says in the walks of %s what is stored there', async name => {
  await using service = await startTestService({ console: true })
  await expectWalked(new URL(`${name}.txt`, folder), () => operatorsOf(service))
})
