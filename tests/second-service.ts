import { markInstallation } from '../service/src/installation.ts'
import { type Service, startService } from '../service/src/service.ts'
import type { TestService } from './rig.ts'

/**
 * Starts another service on the database of a sandbox under test, as a second process would; the test closes it. A test whose
 * second process must not share modules with the first gives a `start` of its own.
 */
export async function startSecondService(
  { database, keyring, now }: Pick<TestService, 'database' | 'keyring' | 'now'>,
  { real = now, start = startService }: { real?: () => number; start?: typeof startService } = {},
): Promise<Service> {
  return start({
    database,
    deliveryDatabase: database,
    keyring,
    real,
    host: '127.0.0.1',
    port: 0,
    log: () => {},
    webhookRules: { sandbox: true, allow: [] },
    installation: await markInstallation(database, { keyring, wanted: 'sandbox', now: now() }),
  })
}
