import { chownSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openErasureList } from './list.ts'

test.runIf(process.getuid?.() === 0)(
  'a list that root makes belongs to the owner of its directory',
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'erasures-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    chownSync(directory, 65534, 65534)
    const { path } = await openErasureList(join(directory, 'erasures'))
    expect(statSync(path)).toMatchObject({ uid: 65534, gid: 65534 })
    expect(statSync(path).mode & 0o777).toBe(0o600)
  },
)
