import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { lookUp } from '../../service/src/console/find/look-up.ts'
import type { Executor } from '../../service/src/db/database.ts'
import { openDirectory } from '../../service/src/partners/directory.ts'
import { uuidv7 } from '../../service/src/vault/uuid.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService } from '../rig.ts'
import { signIn } from './operator-browser.ts'

const service = forAllTests(() => startTestService({ console: true }))
const own = forAllTests(() => service.newPartner())
const other = forAllTests(() => service.newPartner())

/** What a search among the own partner's users finds, and which statements it sends for that. */
async function search(what: string) {
  const sent: string[] = []
  const { database } = service.manage
  const directory = openDirectory(service.manage)
  const counting: Executor = {
    ...database,
    query: asked => {
      sent.push(asked.text)
      return database.query(asked)
    },
  }
  const { partnerId } = own
  const partner = (id: string) => directory.partner(id)
  const found = await lookUp({
    database: counting,
    partner,
    partnerIds: [partnerId],
    what,
    seesPersons: true,
  })
  return { found, sent }
}

test('whoever searches for a person of another partner learns nothing, neither by a count nor by what is asked of the database', async () => {
  const { client } = other
  const userid = `other-${randomUUID()}`
  const { serviceid } = await client.createUser({ ...ada, userid, offername: 'starter' })
  const [event] = (await client.listEvents({ userid })).events
  for (const [theirs, unknown] of [
    [userid, `other-${randomUUID()}`],
    [serviceid, uuidv7(service.now())],
    [event?.eventid ?? '', uuidv7(service.now())],
    [ada.email, 'nobody@example.org'],
    [ada.phone, '3055559999'],
  ] as const)
    expect(await search(theirs)).toEqual(await search(unknown))
})

test('several show userid, state, partner and when last seen, and more than seven are sorted and a file for support', async () => {
  const [support, viewer] = [await signIn(service, 'support'), await signIn(service, 'viewer')]
  const email = 'several.canary@example.com'
  const aviso = await service.newPartner({ name: 'Aviso Rides' })
  await aviso.client.createUser({ ...ada, email, userid: 'canary-0', offername: 'starter' })
  for (let at = 1; at < 8; at += 1) await own.client.prefillUser({ ...ada, email, userid: `canary-${at}` })
  const names = (text: string) =>
    [...text.matchAll(/>(canary-\d)<|^[\w ]+,(canary-\d),/gm)].map(([, a, b]) => a ?? b)
  const { text } = await support.post('/find', { what: email })
  expect(text).toMatch(/<td>Aviso Rides<\/td><td><a[^>]*>canary-0<\/a><\/td><td>active<\/td><td><time/)
  expect(text).toContain('<td>prefilled</td>')
  for (const label of ['Partner', 'User', 'State', 'Last seen', 'Found by']) {
    const sort = new RegExp(`name="sort" value="([^"]+)">${label}<`).exec(text)?.[1] ?? ''
    const up = await support.post('/find', { what: email, sort })
    expect([label, up.text.includes('aria-sort="ascending"')]).toEqual([label, true])
    expect(up.text).toContain(`name="sort" value="-${sort}">${label}<`)
  }
  expect(names((await support.post('/find', { what: email, sort: '-user' })).text)[0]).toBe('canary-7')
  expect(text).toContain('formaction="/find.csv"')
  const file = await support.post('/find.csv', { what: email, sort: 'user' })
  expect(file.headers.get('content-disposition')).toContain('found.csv')
  expect(file.text.split('\r\n')[0]).toBe('partner,user,state,lastseen,foundby,serviceid')
  expect(names(file.text)[0]).toBe('canary-0')
  expect((await support.post('/find.csv', { what: 'nobody' })).status).toBe(404)
  const what = 'canary-1'
  await aviso.client.prefillUser({ ...ada, userid: what })
  const seen = (await viewer.post('/find', { what })).text
  expect(seen).toContain('Several users')
  expect(seen.replace(/<[^>]*>/g, '')).not.toMatch(/canary|[\da-f]{8}-[\da-f]{4}-/)
  expect((await viewer.post('/find.csv', { what })).status).toBe(403)
})
