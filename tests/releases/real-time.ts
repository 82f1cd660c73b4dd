import { openBlockKeys } from '../../service/src/audit/block-keys.ts'
import { signBlocks } from '../../service/src/audit/sign-blocks.ts'
import { DAY_MS, MINUTE_MS } from '../../service/src/calendar/calendar.ts'
import { cleanUpWebhooks } from '../../service/src/webhooks/log/clean-up.ts'
import { urlOf } from '../command/database-url.ts'
import { run } from '../command/process.ts'
import { signIn } from '../console/operator-browser.ts'
import { ada, type TestPartner, type TestService } from '../rig.ts'

// Of the scripted year, what needs the service's real clock to go on.

/** The instant at which the world begins. */
export const WORLD_BEGINS = Date.parse('2025-12-05T15:00:00Z')
/** What begins then: a month by the real clock. After it the clock of the sandbox goes on for eleven months. */
const BEFORE_MS = 33 * DAY_MS

/** A partner begins, and another one leaves, whose endpoint has refused its events until they were given up. */
export async function liveTheMonthBefore(service: TestService, refusing: string): Promise<TestPartner> {
  const former = await service.newPartner({ name: 'Former Rides' })
  await former.client.createWebhook({ url: refusing, username: 'f', password: 'f', events: ['all'] })
  await former.client.createUser({ userid: 'stays-behind', ...ada, offername: 'plus' })
  const corner = await service.newPartner({ name: 'Corner Bank', retain: '7y' })
  await corner.client.createUser({ userid: 'first', ...ada, offername: 'starter' })
  // Writes what is noted of it before the time in which it is signed.
  await service.restart()
  service.advance(BEFORE_MS)
  await cleanUpWebhooks(service.database, service.now())
  const admin = await signIn(service, 'admin')
  await admin.post(`/partners/${former.partnerId}/disable`, { reason: 'left' })
  return { ...corner, client: corner.connect() }
}

/** Signs the audit record of the year; returns its newest signatures. */
export async function signAll(service: TestService): Promise<string> {
  const { database, keyring, address, rootKey } = service
  await service.restart()
  service.advance(10 * MINUTE_MS)
  await signBlocks(database, openBlockKeys(database, keyring), service.now())
  const place = { env: { DATABASE_URL: urlOf(address), ENROLMENT_ROOT_KEY: rootKey } }
  return (await run(['audit', 'export', '--heads'], place)).stdout
}
