import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { createDatabase, ownEmbeddedDatabase } from '@benefit-enrolment/embedded-postgres'
import type { TestProject } from 'vitest/node'
import { openDatabase } from '../service/src/db/database.ts'
import { migrate } from '../service/src/db/migrate.ts'
import {
  type Cluster,
  closeOnCluster,
  clusterOf,
  createOnCluster,
  databaseUrl,
  dropOnCluster,
  onNode,
} from './cluster.ts'
import { makeDataDir } from './data-dir.ts'
import { patientDatabase } from './patient-database.ts'

/**
 * The server on which tests create their databases: the embedded PostgreSQL, or the server or Citus cluster of
 * TEST_DATABASE_URL.
 */
export type TestServer = { readonly template: string } & (
  | { kind: 'embedded'; host: string; port: number; user: string }
  | { kind: 'url'; url: string }
  | { kind: 'cluster'; url: string; cluster: Cluster }
)

declare module 'vitest' {
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface adds members to one declared elsewhere
  interface ProvidedContext {
    testServer: TestServer
  }
}

// Two runs may share a server: each has a template of its own.
const templateName = `enrolment_test_template_${randomBytes(4).toString('hex')}`

/** The options with which an empty database is created, after `create database NAME`. */
export const emptyDatabase = "template template0 encoding 'UTF8' locale 'C'"

/** Starts the database server of a project, and makes the migrated template that every test copies. */
export default function setUp(project: TestProject): Promise<() => Promise<void>> {
  const url = project.config.env['TEST_DATABASE_URL'] ?? process.env['TEST_DATABASE_URL']
  return url ? onServer(project, url) : embedded(project)
}

async function embedded(project: TestProject) {
  const dataDir = await makeDataDir()
  const owned = await ownEmbeddedDatabase({ dataDir, log: () => {}, isThrownAway: true })
  await createDatabase(owned.address, templateName)
  const template = openDatabase({ ...owned.address, database: templateName }, { max: 1, ...patientDatabase })
  await migrate(template)
  await template.close()
  const { host, port, user } = owned.address
  project.provide('testServer', { template: templateName, kind: 'embedded', host, port, user })
  return async () => {
    await owned.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function onServer(project: TestProject, url: string) {
  const cluster = await clusterOf(url)
  const drop = () => dropOnCluster(cluster ?? [url], templateName)
  if (cluster) await createOnCluster(cluster, templateName, emptyDatabase)
  else await onNode(url, `create database ${templateName} ${emptyDatabase}`)
  const template = openDatabase({ url: databaseUrl(url, templateName) }, { max: 1, ...patientDatabase })
  await migrate(template, { cells: 1 })
  await template.close()
  if (cluster) await closeOnCluster(cluster, templateName)
  project.provide('testServer', {
    template: templateName,
    ...(cluster ? { kind: 'cluster', url, cluster } : { kind: 'url', url }),
  })
  return drop
}
