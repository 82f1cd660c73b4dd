// @whole

import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { wholeRunTest } from '../long.ts'
import { buildOneFile } from '../one-file.ts'
import { root } from './process.ts'

wholeRunTest(
  'a command that has nothing left to wait for before it has ended tells that it failed',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'enrolment-unfinished-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const program = await buildOneFile(folder, [
      {
        module: 'cli/dist/program.js',
        from: 'return await run(program',
        to: 'return await new Promise(() => {}), run(program',
      },
    ])
    const { status, stdout } = spawnSync(process.execPath, [program, '--version'], {
      cwd: root,
      encoding: 'utf8',
    })
    expect({ status, stdout }).toEqual({ status: 70, stdout: '' })
  },
)
