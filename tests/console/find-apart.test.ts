import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { lookUp } from '../../service/src/console/find/look-up.ts'
import type { Executor } from '../../service/src/db/database.ts'
import { openDirectory } from '../../service/src/partners/directory.ts'
import { uuidv7 } from '../../service/src/vault/uuid.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService } from '../rig.ts'

const service = forAllTests(() => startTestService())
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
