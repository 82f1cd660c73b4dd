import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { lookUp } from '../../service/src/console/find/look-up.ts'
import type { Database } from '../../service/src/db/database.ts'
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
  const counting: Database = {
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

test('several show userid, state, partner and when last seen, and to a viewer only when and where', async () => {
  const [support, viewer] = [await signIn(service, 'support'), await signIn(service, 'viewer')]
  const email = 'several.canary@example.com'
  const aviso = await service.newPartner({ name: 'Aviso Rides' })
  await aviso.client.createUser({ ...ada, email, userid: 'canary-0', offername: 'starter' })
  for (let at = 1; at < 8; at += 1) await own.client.prefillUser({ ...ada, email, userid: `canary-${at}` })
  const { text } = await support.post('/find', { what: email })
  expect(text).toMatch(/<td>Aviso Rides<\/td><td><a[^>]*>canary-0<\/a><\/td><td>active<\/td><td><time/)
  expect(text.match(/<td>prefilled<\/td>/g)).toHaveLength(7)
  const what = 'canary-1'
  await aviso.client.prefillUser({ ...ada, userid: what })
  const seen = (await viewer.post('/find', { what })).text
  expect(seen).toContain('Several users')
  expect(seen.replace(/<[^>]*>/g, '')).not.toMatch(/canary|[\da-f]{8}-[\da-f]{4}-/)
})
