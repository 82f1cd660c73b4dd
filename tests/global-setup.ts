import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { openDatabase } from '../service/src/db/database.ts'
import { migrate } from '../service/src/db/migrate.ts'
import { createDatabase } from '../service/src/embedded/database.ts'
import { ownEmbeddedDatabase } from '../service/src/embedded/own.ts'
import { patientDatabase } from './patient-database.ts'

/** Where tests make their databases: the embedded PostgreSQL, or the server of TEST_DATABASE_URL. */
export type TestServer =
  | { kind: 'embedded'; host: string; port: number; user: string }
  | { kind: 'url'; url: string }

declare module 'vitest' {
  interface ProvidedContext {
    testServer: TestServer
  }
}

export const templateName = 'enrolment_test_template'

/** Starts the database server of the run and makes the migrated template that every test copies. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const url = process.env['TEST_DATABASE_URL']
  return url ? onServer(project, url) : embedded(project)
}

const embedded = async (project: TestProject) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'enrolment-tests-'))
  const owned = await ownEmbeddedDatabase({ dataDir, log: () => {} })
  await createDatabase(owned.address, templateName)
  const template = openDatabase({ ...owned.address, database: templateName }, { max: 1, ...patientDatabase })
  await migrate(template)
  await template.close()
  const { host, port, user } = owned.address
  project.provide('testServer', { kind: 'embedded', host, port, user })
  return async () => {
    await owned.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

const onServer = async (project: TestProject, url: string) => {
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  await admin.query(`drop database if exists ${templateName} with (force)`)
  await admin.query(`create database ${templateName} template template0 encoding 'UTF8' locale 'C'`)
  const template = openDatabase({ url: databaseUrl(url, templateName) }, { max: 1, ...patientDatabase })
  await migrate(template)
  await template.close()
  project.provide('testServer', { kind: 'url', url })
  return async () => {
    await admin.query(`drop database if exists ${templateName} with (force)`)
    await admin.end()
  }
}

/** The URL of another database on the same server. */
export const databaseUrl = (url: string, name: string): string => {
  const other = new URL(url)
  other.pathname = `/${name}`
  return other.href
}
