import { execFileSync } from 'node:child_process'
import { appendFile, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ada, demoCatalogueFile } from '../rig.ts'
import { type Created, clientOf, codeOf, newWorkplace } from './place.ts'
import { newDataDir, root, run, runJson, startProcess } from './process.ts'

/** A data directory beside a database of the test's server, a folder for lists, and what works on both. */
async function stage() {
  const { place, remove } = await newWorkplace()
  onTestFinished(remove)
  const data = await newDataDir()
  const lists = await newDataDir()
  const words = ['serve', '--port', '0', '--data', data]
  const at = (list?: string) => ({
    ...place,
    env: { ...place.env, ...(list === undefined ? {} : { ENROLMENT_ERASURES: join(lists, list) }) },
  })
  const newPartner = async () => {
    await runJson(['catalogue', 'publish', demoCatalogueFile, '--data', data], place)
    return runJson<Created>(['partner', 'create', '--name', 'Drill', '--data', data], place)
  }
  const serve = (list?: string) => startProcess(words, at(list))
  const refused = (list: string) => run(words, at(list))
  return { data, lists, newPartner, serve, refused }
}

// A restored backup and the list are part of the drill in `backup.test.ts`.

test('an erasure is answered only once it is listed; a repeat lists what could not be, and a start what was cut off', async () => {
  const { lists, newPartner, serve, refused } = await stage()
  const path = join(lists, 'list')
  const service = await serve('list')
  const partner = await newPartner()
  const client = clientOf(service, partner)
  await client.createUser({ ...ada, userid: 'u-1', offername: 'plus' })
  // A directory is now in the place of the list, so it cannot be written.
  await rename(path, `${path}.aside`)
  await mkdir(path)
  expect(await codeOf(client.eraseUser({ userid: 'u-1' }))).toBe('unavailable')
  expect(await codeOf(client.eraseUser({ userid: 'u-1' }))).toBe('unavailable')
  await rm(path, { recursive: true })
  await rename(`${path}.aside`, path)
  const erased = await client.eraseUser({ userid: 'u-1' })
  const line = `1 ${partner.partnerid} ${erased.serviceid} ${erased.erasedat}\n`
  expect(await readFile(path, 'utf8')).toBe(line)
  await service.stop('SIGKILL')

  // The state that a kill between commit and list leaves, and a kill in the middle of a write.
  await rm(path)
  await appendFile(path, line.slice(0, 50))
  const again = await serve('list')
  const [torn, listed = '', ...rest] = (await readFile(path, 'utf8')).split('\n')
  // With the time at which the erasure was stored, some milliseconds away from that of its answer.
  expect([torn, listed.split(' ').slice(0, 3), rest]).toEqual([
    line.slice(0, 50),
    ['1', partner.partnerid, erased.serviceid],
    [''],
  ])
  expect(await again.stop()).toBe(0)

  await appendFile(path, `${line.trim()} and more\n`)
  expect(await refused('list')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Line 3 of the list of erasures'),
  })
})

test('with another PostgreSQL no list is kept unless it is asked for; lists joined as docs/deploying.md says, beside the keys, erase again at the first start, and the next list has them all', async () => {
  const { data, lists, newPartner, serve } = await stage()
  const first = await serve()
  expect(first.log().map(({ event }) => event)).toContain('erasures_not_listed')
  const partner = await newPartner()
  const create = (userid: string) =>
    clientOf(first, partner).createUser({ ...ada, userid, offername: 'plus' })
  const [{ serviceid: one }, { serviceid: two }] = [await create('u-1'), await create('u-2')]
  expect(await first.stop()).toBe(0)

  // What a restored database looks like: it has both people, whom two machines erased; one was killed in the middle of a line.
  const line = (serviceid: string) => `1 ${partner.partnerid} ${serviceid} ${new Date().toISOString()}\n`
  await writeFile(join(lists, 'pod-1'), line(one) + line(one).slice(0, 50))
  await writeFile(join(lists, 'pod-2'), line(two))
  const page = await readFile(join(root, 'docs/deploying.md'), 'utf8')
  const command = /exec deploy\/enrolment -- sh -c '(sort .*)'$/m.exec(page)?.[1] ?? ''
  const here = command.replace(/\/(erasures|tmp)\//g, (_, name) => `${name === 'tmp' ? data : lists}/`)
  execFileSync('sh', ['-ec', here])
  // Beside the keys it counts, though no setting names it.
  await rename(join(lists, 'joined'), join(data, 'erasures'))
  const restored = await serve()
  expect(restored.log().find(({ event }) => event === 'erased_again')).toMatchObject({ count: 2 })
  for (const [userid, serviceid] of Object.entries({ 'u-1': one, 'u-2': two }))
    expect(await clientOf(restored, partner).getUser({ userid })).toMatchObject({
      status: 'erased',
      serviceid,
    })
  expect(await restored.stop()).toBe(0)

  const next = await serve('pod-3')
  const listed = (await readFile(join(lists, 'pod-3'), 'utf8')).trim().split('\n')
  expect(listed.map(each => each.split(' ')[2]).sort()).toEqual([one, two].sort())
  expect(await next.stop()).toBe(0)
})
