import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Client, createClient } from '../../client/src/index.ts'
import { type Database, openDatabase } from '../../service/src/db/database.ts'
import { fileOf, lifeCatalogue } from '../life/catalogue.ts'
import { freshDatabase } from '../rig.ts'
import { urlOf } from './database-url.ts'
import {
  newDirectory,
  type Place,
  runJson,
  runRefused,
  type ServiceProcess,
  startKeptProcess,
} from './process.ts'

/** A sandbox as a process of its own, with the life catalogue, and the operator's commands beside it. */
export type Sandbox = {
  readonly place: Place & { readonly cwd: string }
  readonly service: ServiceProcess
  readonly database: Database
  /** Makes a partner by the command. */
  readonly newPartner: (...words: string[]) => Promise<SandboxPartner>
  /** What a command that is refused says. */
  readonly refusal: (...words: string[]) => Promise<string>
  readonly close: () => Promise<void>
}
export type SandboxPartner = {
  readonly partnerid: string
  readonly webhookid?: string
  readonly client: Client
}

/** Starts `enrolment dev` on a fresh database. */
export const startSandbox = async (): Promise<Sandbox> => {
  const { address, drop } = await freshDatabase()
  const { path: cwd, remove } = await newDirectory()
  const place = { cwd, env: { DATABASE_URL: urlOf(address) } }
  const service = await startKeptProcess(['dev', '--port', '0'], place)
  const database = openDatabase(address, { max: 1, onError: () => {} })
  const file = join(cwd, 'catalogue.yaml')
  // The name dental is taken: by another benefit, of the demo catalogue.
  await writeFile(file, fileOf(lifeCatalogue).replaceAll('dental', 'teeth'))
  await runJson(['catalogue', 'publish', file], place)
  return {
    place,
    service,
    database,
    async newPartner(...words) {
      type Created = {
        partnerid: string
        webhookid?: string
        clientid: string
        clientsecret: string
        apikey: string
      }
      const created = await runJson<Created>(['partner', 'create', '--name', 'Partner', ...words], place)
      const { partnerid, webhookid, clientid: clientId, clientsecret: clientSecret, apikey: apiKey } = created
      const client = createClient({ baseUrl: service.address, clientId, clientSecret, apiKey, tries: 1 })
      return { partnerid, client, ...(webhookid === undefined ? {} : { webhookid }) }
    },
    refusal: (...words) => runRefused(words, place),
    async close() {
      await service.stop()
      await database.close()
      await drop()
      await remove()
    },
  }
}
