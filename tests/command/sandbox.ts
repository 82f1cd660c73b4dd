import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Client } from '../../client/src/index.ts'
import { type Database, openDatabase } from '../../service/src/db/database.ts'
import { fileOf, lifeCatalogue } from '../life/catalogue.ts'
import { patientDatabase } from '../patient-database.ts'
import type { TestService } from '../rig.ts'
import { urlOf } from './database-url.ts'
import { type Created, clientOf, newWorkplace, type Workplace } from './place.ts'
import { newDirectory, runJson, runRefused, type ServiceProcess, startKeptProcess } from './process.ts'

/** A sandbox with the life catalogue, and the operator's commands beside it. */
export type Sandbox = {
  readonly place: Workplace
  readonly address: string
  readonly database: Database
  /** Creates a partner with the command. */
  readonly newPartner: (...words: string[]) => Promise<SandboxPartner>
  /** The message of a command that is refused. */
  readonly refusal: (...words: string[]) => Promise<string>
  readonly close: () => Promise<void>
}
export type SandboxPartner = {
  readonly partnerid: string
  readonly webhookid?: string
  readonly client: Client
}

/** The name dental is taken by another benefit in the demo catalogue, which each of them published first. */
const catalogue = fileOf(lifeCatalogue).replaceAll('dental', 'teeth')

/**
 * The operator's commands beside a service in the process of the test, at a third of the work of `enrolment dev`. They
 * have published the catalogue of lives, or another that is given.
 */
export async function commandsBeside(service: TestService, given = catalogue): Promise<Sandbox> {
  await service.publish(given)
  const { path: cwd, remove } = await newDirectory()
  const env = { DATABASE_URL: urlOf(service.address), ENROLMENT_ROOT_KEY: service.rootKey }
  return { ...besides({ cwd, env }, service.baseUrl), database: service.database, close: remove }
}

/** Starts `enrolment dev` on a fresh database, as a process of its own: with the keyring in a file, console, demo operator. */
export async function startSandboxProcess(): Promise<Sandbox & { readonly service: ServiceProcess }> {
  const { place, address, remove } = await newWorkplace()
  const service = await startKeptProcess(['dev', '--port', '0'], place)
  const database = openDatabase(address, { max: 1, ...patientDatabase })
  const file = join(place.cwd, 'catalogue.yaml')
  await writeFile(file, catalogue)
  await runJson(['catalogue', 'publish', file], place)
  // The service has read the demo catalogue for the people of the sandbox, and looks for a newer one after a second.
  await setTimeout(1000)
  return {
    ...besides(place, service.address),
    service,
    database,
    async close() {
      await service.stop()
      await database.close()
      await remove()
    },
  }
}

function besides(
  place: Workplace,
  address: string,
): Pick<Sandbox, 'place' | 'address' | 'newPartner' | 'refusal'> {
  return {
    ...{ place, address },
    async newPartner(...words) {
      const created = await runJson<Created & { webhookid?: string }>(
        ['partner', 'create', '--name', 'Partner', ...words],
        place,
      )
      const { partnerid, webhookid } = created
      const client = clientOf({ address }, created)
      return { partnerid, client, ...(webhookid === undefined ? {} : { webhookid }) }
    },
    refusal: (...words) => runRefused(words, place),
  }
}
