import { mkdtemp, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { urlOf } from '../command/database-url.ts'
import { root, run, runJson, runProcess } from '../command/process.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService } from '../rig.ts'

const service = forAllTests(startTestService)

/** A place whose commands hand files over to `command`, with the demo feed published. */
async function startPlace() {
  const folder = await mkdtemp(join(tmpdir(), 'feeds-'))
  const env = {
    DATABASE_URL: urlOf(service.address),
    ENROLMENT_ROOT_KEY: service.rootKey,
    ENROLMENT_FEEDS: folder,
  }
  await runJson(['feed', 'publish', join(root, 'service/assets/demo-feeds.yaml')], { env })
  return { env, files: async () => (await readdir(join(folder, 'seaview')).catch(() => [])).filter(isWhole) }
}

function isWhole(name: string): boolean {
  return name.endsWith('.csv')
}

const killAt = new URL('kill-at.mjs', import.meta.url)
/** At which points a killed run has left its file. */
const points = {
  'the run is being stored': false,
  'the run is stored': false,
  'half of the file is written': false,
  'the file is written': false,
  'the file has its name': true,
  'the command has the file': true,
  'the file was handed over': true,
}
const words = ['feed', 'run', 'seaview']

test('a run that is killed at any point leaves no file or a whole one, and the next run gives the same under the same number', async () => {
  const { client } = await service.newPartner()
  const { env, files } = await startPlace()
  for (const [index, [point, hasFile]] of Object.entries(points).entries()) {
    await client.createUser({ userid: `killed-${index}`, ...ada, offername: 'plus' })
    const before = await files()
    const killed = { ...env, NODE_OPTIONS: `--import=${killAt}`, KILL_AT: point }
    const { code } = await runProcess(words, {
      env: point.includes('command') ? { ...env, ENROLMENT_FEED_COMMAND: 'kill -9 $PPID; :' } : killed,
    })
    const left = (await files()).filter(name => !before.includes(name))
    expect([point, code, left.length > 0]).toEqual([point, null, hasFile])
    const folder = join(env.ENROLMENT_FEEDS, 'seaview')
    const [kept] = await Promise.all(left.map(name => readFile(join(folder, name), 'utf8')))
    const again = await runJson<{ run: number; file: string; status: string }>(words, { env })
    expect([point, again]).toMatchObject([point, { run: index + 1, status: 'taken', lines: 2 }])
    const whole = await readFile(again.file, 'utf8')
    expect(whole).toMatch(/^LINE,.*\r\n1,.*\r\n2,.*\r\n$/)
    if (kept !== undefined) expect(kept).toBe(whole)
  }
})

test('of two processes one makes the run, and the other makes none', async () => {
  const { client } = await service.newPartner()
  const { env } = await startPlace()
  await client.createUser({ userid: 'once', ...ada, offername: 'plus' })
  const ended = await Promise.all([1, 2].map(() => run([...words, '--json'], { env })))
  const lines = ended.map(({ code, stdout }) =>
    code === 0 ? (JSON.parse(stdout) as { lines: number }).lines : 0,
  )
  expect(lines.toSorted()).toEqual([0, 2])
  for (const { code, stderr } of ended) if (code !== 0) expect(stderr).toContain('Another process is at work')
})
