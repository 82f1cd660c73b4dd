import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { withDatabase } from '@benefit-enrolment/embedded-postgres'
import { expect, test } from 'vitest'
import { openDatabase } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'
import { patientDatabase } from '../patient-database.ts'
import { ada, demoCatalogueFile } from '../rig.ts'
import { type Created, clientOf } from './place.ts'
import { newDataDir, runJson, runRefused, startProcess } from './process.ts'

test('the wrapped keys of erased users leave data files and log; the operator gets a certificate', async () => {
  const data = await newDataDir()
  const service = await startProcess(['serve', '--port', '0', '--data', data])
  await runJson(['catalogue', 'publish', demoCatalogueFile, '--data', data])
  const partner = await runJson<Created>(['partner', 'create', '--name', 'Forget', '--data', data])
  const client = clientOf(service, partner)
  const userids = ['u-1', 'u-2', 'u-3', 'u-4']
  for (const userid of userids) await client.createUser({ ...ada, userid, offername: 'plus' })
  const keys = await wrappedKeys(data)
  expect(keys.size).toBe(4)
  const found = async () => {
    await checkpoint(data)
    const files = await filesBelow(join(data, 'postgres'))
    const kept: string[] = []
    for (const [serviceId, key] of keys) if (files.some(file => file.includes(key))) kept.push(serviceId)
    return kept.sort()
  }
  expect(await found()).toHaveLength(4)

  const erased: Awaited<ReturnType<typeof client.eraseUser>>[] = []
  await onEmbedded(data, 'enrolment', database =>
    database.transaction(async tx => {
      await tx.query(sql`set transaction isolation level repeatable read`)
      await tx.query(sql`select 1 from partners`)
      erased.push(await client.eraseUser({ userid: 'u-1' }))
      // This transaction still sees the deleted key, so the table's new file has it, too.
      expect(await runRefused(['maintain', '--data', data])).toContain('an open transaction can see them')
    }),
  )
  const words = ['user', 'erase', partner.partnerid, 'u-2', '--alone', '--data', data]
  expect(await runRefused(words)).toContain('--reason')
  const certificate = await runJson<{ serviceid: string; status: string }>([
    ...words,
    '--reason',
    'asked by letter',
  ])
  expect(certificate.status).toBe('erased')
  erased.push((await client.getUser({ userid: 'u-2' })) as (typeof erased)[number])
  expect(erased[1]?.serviceid).toBe(certificate.serviceid)
  // An erasure alone leaves these bytes in the files.
  expect(await found()).toHaveLength(4)

  expect(await runJson(['maintain', '--data', data])).toMatchObject({ keysscrubbed: 2 })
  expect(await found()).toEqual(
    [...keys.keys()].filter(id => !erased.some(({ serviceid }) => serviceid === id)).sort(),
  )
  expect(await client.getUser({ userid: 'u-3' })).toMatchObject({ status: 'active' })
  expect(await runJson(['maintain', '--data', data])).toMatchObject({ keysscrubbed: 0 })
  expect(await runJson(['audit', 'verify', '--data', data])).toMatchObject({ ok: true })
  expect(await service.stop()).toBe(0)
})

async function wrappedKeys(dataDir: string): Promise<Map<string, Buffer>> {
  return onEmbedded(dataDir, 'enrolment', async database => {
    const rows = await database.query<{ service_id: string; wrapped_key: Buffer }>(sql`
      select service_id, wrapped_key from data_keys`)
    return new Map(rows.map(row => [row.service_id, row.wrapped_key]))
  })
}

function checkpoint(dataDir: string): Promise<void> {
  return onEmbedded(dataDir, 'postgres', database => database.script('checkpoint'))
}

async function onEmbedded<T>(
  dataDir: string,
  user: string,
  work: (database: ReturnType<typeof openDatabase>) => Promise<T>,
): Promise<T> {
  return withDatabase({ dataDir }, async address => {
    const database = openDatabase({ ...address, user }, { max: 1, ...patientDatabase })
    try {
      return await work(database)
    } finally {
      await database.close()
    }
  })
}

/** The bytes of all files: tables and log. */
async function filesBelow(directory: string): Promise<Buffer[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const files: Buffer[] = []
  for (const entry of entries)
    if (entry.isFile())
      files.push(await readFile(join(entry.parentPath, entry.name)).catch(() => Buffer.alloc(0)))
  return files
}
