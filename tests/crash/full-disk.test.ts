import { execFileSync } from 'node:child_process'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { clientOf } from '../command/place.ts'
import { endDatabase, newDirectory, runJson, startProcess } from '../command/process.ts'
import { everydayOr } from '../long.ts'
import { demoCatalogueFile } from '../rig.ts'
import { openJournal } from '../trust/journal.ts'
import { checkEmbeddedLedger } from '../trust/ledger.ts'
import { createPartnerOf, startReceiver } from './receiver.ts'

/** Mounts a small file system for the duration of a test; returns its path, or `undefined` when none can be mounted. */
async function smallDisk(): Promise<string | undefined> {
  const { path, remove } = await newDirectory()
  onTestFinished(remove)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=400m', 'small', path], { stdio: 'pipe' })
  } catch {
    process.stderr.write('\nNOT RUN: a full disk, as only root can mount a small one, and not everywhere.\n')
    return undefined
  }
  onTestFinished(() => {
    execFileSync('umount', ['-l', path])
  })
  return path
}

/** Writes a file until not one more byte fits. */
function fillUp(path: string): void {
  const file = openSync(path, 'w')
  try {
    for (let size = 1024 * 1024; size >= 1; ) {
      try {
        // When less fits, less than requested is written.
        if (writeSync(file, Buffer.alloc(size)) === 0) return
      } catch (error) {
        if ((error as { code?: string }).code !== 'ENOSPC') throw error
        size = Math.floor(size / 16)
      }
    }
  } finally {
    closeSync(file)
  }
}

test('a disk that is full to the last byte, under load: nothing acknowledged is lost, and all goes on once there is room', async context => {
  const disk = await smallDisk()
  if (disk === undefined) return context.skip()
  const dataDir = join(disk, 'data')
  const place = { env: { ENROLMENT_WEBHOOK_ALLOW: '127.0.0.1' } }
  const receiver = await startReceiver({ refuses: true })
  onTestFinished(receiver.close)
  onTestFinished(() => endDatabase(dataDir))
  const service = await startProcess(['serve', '--port', '0', '--data', dataDir], place)
  await runJson(['catalogue', 'publish', demoCatalogueFile, '--data', dataDir], place)
  const partner = await createPartnerOf(receiver, place, '--data', dataDir)
  const readiness = () => fetch(`${service.address}/readyz`).then(answer => answer.status)
  const journal = openJournal([clientOf(service, partner)], { writers: 8, name: 'full' })
  const more = (count: number) => {
    const wanted = journal.acknowledged() + count
    return expect.poll(journal.acknowledged, { interval: 20 }).toBeGreaterThan(wanted)
  }
  await more(40)
  for (let round = 0; round < everydayOr(1, 2); round += 1) {
    fillUp(join(disk, 'filler'))
    await expect.poll(readiness).toBe(503)
    rmSync(join(disk, 'filler'))
    await expect.poll(readiness).toBe(200)
    await more(40)
  }
  await journal.stop()
  expect(service.child.exitCode).toBeNull()
  const logs = service.stdout() + service.stderr()
  await checkEmbeddedLedger({ journal, receiver, partnerId: partner.partnerid, logs, dataDir })
})
