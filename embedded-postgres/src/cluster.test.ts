import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openCluster, prepareCluster } from './cluster.ts'
import { removeLeftovers } from './leftovers.ts'

test.runIf(process.platform === 'linux')(
  'a data directory that the system does not let anybody make is refused',
  async () => {
    await expect(openCluster('/proc/nowhere')).rejects.toThrow(
      'The data directory /proc/nowhere cannot be used (ENOENT',
    )
  },
)

/** Writes files into a directory for a second and a half, a hundred at least, as an initdb does whose parent was killed. */
const writer = `const { writeFileSync } = await import('node:fs')
  const endsAt = Date.now() + 1500
  for (let n = 0; n < 100 || Date.now() < endsAt; n += 1) try { writeFileSync(process.argv[1] + '/' + n, 'n') } catch { break }`

test('what an earlier start left half-made is removed also while somebody writes into it', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'cluster-test-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
  const unfinished = join(dataDir, 'postgres-unfinished-1')
  await mkdir(unfinished)
  const writing = spawn(process.execPath, ['--input-type=module', '--eval', writer, unfinished], {
    stdio: 'inherit',
  })
  const ended = once(writing, 'exit')
  while ((await readdir(unfinished)).length < 100) await new Promise(resolve => setTimeout(resolve, 1))

  const cluster = await openCluster(dataDir)
  await removeLeftovers(cluster)
  await prepareCluster(cluster)
  await ended
  expect(await readFile(join(cluster.directory, 'PG_VERSION'), 'utf8')).toContain(
    cluster.binaries.majorVersion,
  )
  expect((await readdir(dataDir)).sort()).toEqual(['locks', 'postgres'])
})
