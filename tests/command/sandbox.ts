import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Client } from '../../client/src/index.ts'
import { type Database, openDatabase } from '../../service/src/db/database.ts'
import { fileOf, lifeCatalogue } from '../life/catalogue.ts'
import { patientDatabase } from '../patient-database.ts'
import { type Created, clientOf, newWorkplace, type Workplace } from './place.ts'
import { runJson, runRefused, type ServiceProcess, startKeptProcess } from './process.ts'

/** A sandbox as a process of its own, with the life catalogue, and the operator's commands beside it. */
export type Sandbox = {
  readonly place: Workplace
  readonly service: ServiceProcess
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

/** Starts `enrolment dev` on a fresh database. */
export async function startSandbox(): Promise<Sandbox> {
  const { place, address, remove } = await newWorkplace()
  const service = await startKeptProcess(['dev', '--port', '0'], place)
  const database = openDatabase(address, { max: 1, ...patientDatabase })
  const file = join(place.cwd, 'catalogue.yaml')
  // The name dental is taken by another benefit in the demo catalogue.
  await writeFile(file, fileOf(lifeCatalogue).replaceAll('dental', 'teeth'))
  await runJson(['catalogue', 'publish', file], place)
  // The service has read the demo catalogue for the people of the sandbox, and looks for a newer one after a second.
  await setTimeout(1000)
  return {
    place,
    service,
    database,
    async newPartner(...words) {
      const created = await runJson<Created & { webhookid?: string }>(
        ['partner', 'create', '--name', 'Partner', ...words],
        place,
      )
      const { partnerid, webhookid } = created
      const client = clientOf(service, created)
      return { partnerid, client, ...(webhookid === undefined ? {} : { webhookid }) }
    },
    refusal: (...words) => runRefused(words, place),
    async close() {
      await service.stop()
      await database.close()
      await remove()
    },
  }
}
