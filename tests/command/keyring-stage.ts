import { join } from 'node:path'
import { expect } from 'vitest'
import type { Client } from '../../client/src/index.ts'
import { type Database, openDatabase } from '../../service/src/db/database.ts'
import { patientDatabase } from '../patient-database.ts'
import { demoCatalogueFile } from '../rig.ts'
import { type Created, clientOf, newWorkplace, type Workplace } from './place.ts'
import { runJson, runRefused, type ServiceProcess, startKeptProcess } from './process.ts'

/** A key as `keyring show` lists it. */
export type Key = {
  id: string
  kind: 'root' | 'pepper'
  state: string
  replacedat?: string
  inuse: Record<string, number>
}

/** The answer of `keyring show`. */
export type Shown = { source: string; keys: Key[] }

/** Two services on one database and one keyring, as two processes of one machine, and the commands beside them. */
export type Stage = {
  readonly place: Workplace
  readonly dataDir: string
  readonly services: readonly ServiceProcess[]
  readonly database: Database
  readonly newPartner: () => Promise<Created>
  readonly keys: (kind?: Key['kind']) => Promise<Key[]>
  /** Stops both and starts them again, with additional environment variables. */
  readonly restart: (env?: Readonly<Record<string, string>>) => Promise<void>
  /** Everything that the services and the commands of `said` have ever written. */
  readonly written: () => string
  readonly close: () => Promise<void>
}

/** Starts both services and publishes the catalogue. */
export async function openStage(env: Readonly<Record<string, string>> = {}): Promise<Stage> {
  // A receiver is on this machine, which production refuses unless its operator says otherwise.
  const {
    place: begun,
    address,
    remove,
  } = await newWorkplace({ ENROLMENT_WEBHOOK_ALLOW: '127.0.0.1', ...env })
  const database = openDatabase(address, { max: 2, ...patientDatabase })
  let place = begun
  let services: ServiceProcess[] = []
  let written = ''
  const start = async () => {
    // One after the other, because the first creates the keyring.
    for (const _ of [1, 2]) services.push(await startKeptProcess(['serve', '--port', '0'], place))
  }
  const stop = async () => {
    for (const service of services) {
      expect(await service.stop()).toBe(0)
      written += service.stdout() + service.stderr()
    }
    services = []
  }
  await start()
  await runJson(['catalogue', 'publish', demoCatalogueFile], place)
  return {
    get place() {
      return place
    },
    get services() {
      return services
    },
    database,
    dataDir: join(begun.cwd, 'data'),
    newPartner: () => runJson<Created>(['partner', 'create', '--name', 'Partner'], place),
    keys: async kind =>
      (await runJson<Shown>(['keyring', 'show'], place)).keys.filter(
        key => kind === undefined || key.kind === kind,
      ),
    async restart(more = {}) {
      await stop()
      place = { ...place, env: { ...place.env, ...more } }
      await start()
    },
    written: () => written + services.map(service => service.stdout() + service.stderr()).join(''),
    async close() {
      await stop()
      await database.close()
      await remove()
    },
  }
}

/** A client of each of the two services. */
export function clientsOf({ services }: Stage, partner: Created): [Client, Client] {
  const [first, second] = services
  if (!first || !second) throw new Error('not started')
  return [clientOf(first, partner), clientOf(second, partner)]
}

/** The message of a command that is refused. */
export function refusal(stage: Stage, ...words: string[]): Promise<string> {
  return runRefused(words, stage.place)
}

/** The id of the only key in this state. */
export function idOf(keys: readonly Key[], state: string): string {
  const found = keys.filter(key => key.state === state)
  expect(found).toHaveLength(1)
  return found[0]?.id ?? ''
}
