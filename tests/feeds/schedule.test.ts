import { chmod, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openFeedSchedule } from '../../service/src/feeds/schedule.ts'
import { forAllTests, forEachTest } from '../for-all-tests.ts'
import { timesOf } from '../long.ts'
import { ada } from '../rig.ts'
import { startFeeds } from './stage.ts'

const stage = forAllTests(startFeeds)
const DAY = 86_400_000
const partner = forEachTest(() => stage.service.newPartner())
const person = { ...ada, state: 'NY' as const, offername: 'mid', benefits: ['art'] }

/** A schedule that hands files over to a command, and what it reported. */
function schedule(command?: string) {
  const failed: string[] = []
  const { runDue } = openFeedSchedule({
    ...stage.context,
    places: { folder: stage.folder, command },
    onRun: () => undefined,
    onError: (_, error) => failed.push(String(error)),
  })
  const due = async () => (await runDue()).map(({ run, status, lines }) => [run, status, lines])
  return { failed, due }
}

test('a feed runs when it is due, once, by a command without the service’s settings, and what could not be handed over is given again, the same bytes', async () => {
  const every = { days: ['thu'], at: '05:00', timezone: 'America/New_York' }
  const { again } = await stage.newFeed({ every })
  await partner.client.createUser({ userid: 'weekly', ...person })
  const folder = await mkdtemp(join(tmpdir(), 'command-'))
  const command = join(folder, 'send')
  await writeFile(command, `#!/bin/sh\nenv > ${folder}/env\ncp "$2" ${folder}/$1\n`)
  await chmod(command, 0o755)
  process.env['ENROLMENT_CANARY'] = 'secret'
  const { due, failed } = schedule(`${command} taken`)
  expect(await due()).toEqual([])
  stage.service.advance(DAY)
  const failing = schedule('exit 3;')
  expect([await failing.due(), failing.failed]).toEqual([[], [expect.stringContaining('exit code 3')]])
  expect(await due()).toEqual([[1, 'taken', 1]])
  expect([await due(), failed]).toEqual([[], []])
  expect(await readFile(join(folder, 'env'), 'utf8')).not.toContain('ENROLMENT_CANARY')
  expect(await readFile(join(folder, 'taken'), 'utf8')).toBe(await again(1))
  stage.service.advance(7 * DAY)
  expect(await due()).toEqual([[2, 'taken', 0]])
})

test('a run beside many changes that are due at one instant sees each person as of one instant', async () => {
  const many = timesOf(300, 10_000)
  const { lines } = await stage.newFeed()
  const { client } = partner
  const userids = Array.from({ length: many }, (_, index) => `due-${index}`)
  for (let at = 0; at < many; at += 50)
    await Promise.all(
      userids.slice(at, at + 50).map(async userid => {
        await client.createUser({ userid, ...person })
        await client.swapBenefits({ userid, add: ['books'], remove: ['art'], previewonly: false })
      }),
    )
  expect((await lines()).filter(line => line.startsWith('add due-'))).toHaveLength(many)
  // The schedule of the service applies the swaps while the run compares.
  stage.service.advance(31 * DAY)
  const told = (await lines()).filter(line => line.includes(' due-'))
  const [month = ''] = /\d{4}-\d\d-01$/.exec(told.find(line => line.startsWith('add')) ?? '') ?? []
  const both = userids.flatMap(userid => [`add ${userid} Riveracanary books ${month}`, `end ${userid}`])
  expect(told.map(line => line.replace(/^(end due-\d+) .*/, '$1')).toSorted()).toEqual(both.toSorted())
  expect((await lines()).filter(line => line.includes(' due-'))).toEqual([])
})
