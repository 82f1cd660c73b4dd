import { execFileSync } from 'node:child_process'
import { appendFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ada, demoCatalogueFile } from '../rig.ts'
import { type Created, clientOf, codeOf, newWorkplace } from './place.ts'
import { newDataDir, root, run, runJson, type ServiceProcess, startProcess } from './process.ts'

type Erased = { serviceid: string; status: string; erasedat: string }

function serve(data: string, env: Record<string, string> = {}) {
  return startProcess(['serve', '--port', '0', '--data', data], { env })
}

async function newPartner(data: string): Promise<Created> {
  await runJson(['catalogue', 'publish', demoCatalogueFile, '--data', data])
  return runJson<Created>(['partner', 'create', '--name', 'Drill', '--data', data])
}

function create(service: ServiceProcess, partner: Created, userid: string) {
  return clientOf(service, partner).createUser({ ...ada, userid, offername: 'plus', effectivedate: '' })
}
function get(service: ServiceProcess, partner: Created, userid: string) {
  return clientOf(service, partner).getUser({ userid }) as unknown as Promise<Erased>
}

// A restored backup and the list are part of the drill in `backup.test.ts`.

test('an erasure is answered only once it is listed; a repeat lists what could not be, and a start what was cut off', async () => {
  const data = await newDataDir()
  const path = join(await newDataDir(), 'list')
  const env = { ENROLMENT_ERASURES: path }
  const service = await serve(data, env)
  const partner = await newPartner(data)
  const client = clientOf(service, partner)
  await create(service, partner, 'u-1')
  // A directory is now in the place of the list, so it cannot be written.
  await rename(path, `${path}.aside`)
  await mkdir(path)
  expect(await codeOf(client.eraseUser({ userid: 'u-1' }))).toBe('unavailable')
  expect(await codeOf(client.eraseUser({ userid: 'u-1' }))).toBe('unavailable')
  await rm(path, { recursive: true })
  await rename(`${path}.aside`, path)
  const erased = (await client.eraseUser({ userid: 'u-1' })) as Erased
  const line = `1 ${partner.partnerid} ${erased.serviceid} ${erased.erasedat}\n`
  expect(await readFile(path, 'utf8')).toBe(line)
  await service.stop('SIGKILL')

  // The state that a kill between commit and list leaves, and a kill in the middle of a write.
  await rm(path)
  await appendFile(path, line.slice(0, 50))
  const again = await serve(data, env)
  const [torn, listed = '', ...rest] = (await readFile(path, 'utf8')).split('\n')
  // With the time at which the erasure was stored, some milliseconds away from that of its answer.
  expect([torn, listed.split(' ').slice(0, 3), rest]).toEqual([
    line.slice(0, 50),
    ['1', partner.partnerid, erased.serviceid],
    [''],
  ])
  expect(await again.stop()).toBe(0)

  await appendFile(path, `${line.trim()} and more\n`)
  const refused = await run(['serve', '--port', '0', '--data', data], { env })
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining('Line 3 of the list of erasures'),
  ])
})

test('with another PostgreSQL, the list that was put beside the keys counts, though no setting names it', async () => {
  const { place, remove } = await newWorkplace()
  const data = await newDataDir()
  const unlisted = await serve(data, place.env)
  expect(unlisted.log().map(({ event }) => event)).toContain('erasures_not_listed')
  await runJson(['catalogue', 'publish', demoCatalogueFile, '--data', data], place)
  const partner = await runJson<Created>(['partner', 'create', '--name', 'Drill', '--data', data], place)
  const { serviceid } = await create(unlisted, partner, 'u-1')
  expect(await unlisted.stop()).toBe(0)

  // What a database restored from a dump looks like: it has the person, and the list says that the person was erased.
  const line = `1 ${partner.partnerid} ${serviceid} ${new Date().toISOString()}\n`
  await appendFile(join(data, 'erasures'), line)
  const restored = await serve(data, place.env)
  expect(restored.log().find(({ event }) => event === 'erased_again')).toMatchObject({ count: 1 })
  expect(await get(restored, partner, 'u-1')).toMatchObject({ status: 'erased', serviceid })
  expect(await restored.stop()).toBe(0)
  await remove()
})

test('lists joined as docs/deploying.md says erase again at the first start, and the next list has them all', async () => {
  const { place, remove } = await newWorkplace()
  const data = await newDataDir()
  const lists = await newDataDir()
  const serveWith = (list: string) =>
    startProcess(['serve', '--port', '0', '--data', data], {
      ...place,
      env: { ...place.env, ENROLMENT_ERASURES: join(lists, list) },
    })
  const first = await serveWith('pod-1')
  await runJson(['catalogue', 'publish', demoCatalogueFile, '--data', data], place)
  const partner = await runJson<Created>(['partner', 'create', '--name', 'Drill', '--data', data], place)
  const { serviceid: one } = await create(first, partner, 'u-1')
  const { serviceid: two } = await create(first, partner, 'u-2')
  expect(await first.stop()).toBe(0)

  // What a restored database looks like: it has both people, whom two machines erased; one was killed in the middle of a line.
  const line = (serviceid: string) => `1 ${partner.partnerid} ${serviceid} ${new Date().toISOString()}\n`
  await writeFile(join(lists, 'pod-1'), line(one) + line(one).slice(0, 50))
  await writeFile(join(lists, 'pod-2'), line(two))
  const page = await readFile(join(root, 'docs/deploying.md'), 'utf8')
  const command = /exec deploy\/enrolment -- sh -c '(sort .*)'$/m.exec(page)?.[1] ?? ''
  const here = command.replace(/\/(erasures|tmp)\//g, (_, name) => `${name === 'tmp' ? data : lists}/`)
  execFileSync('sh', ['-ec', here])
  const restored = await serveWith('joined')
  expect(restored.log().find(({ event }) => event === 'erased_again')).toMatchObject({ count: 2 })
  for (const userid of ['u-1', 'u-2'])
    expect(await get(restored, partner, userid)).toMatchObject({ status: 'erased' })
  expect(await restored.stop()).toBe(0)

  const next = await serveWith('pod-3')
  const listed = (await readFile(join(lists, 'pod-3'), 'utf8')).trim().split('\n')
  expect(listed.map(each => each.split(' ')[2]).sort()).toEqual([one, two].sort())
  expect(await next.stop()).toBe(0)
  await remove()
})
