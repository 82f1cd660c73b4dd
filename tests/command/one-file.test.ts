import { spawnSync } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { expect, inject, onTestFinished, test } from 'vitest'
import { wholeRunTest } from '../long.ts'
import { buildOneFile } from '../one-file.ts'
import { newWorkplace } from './place.ts'
import { newDirectory, startKeptProcess } from './process.ts'
import { runInResident } from './resident.ts'

wholeRunTest(
  'the one file of the tests serves with the code that a refused start of it has stored',
  async () => {
    const { path: folder, remove } = await newDirectory()
    onTestFinished(remove)
    const program = await buildOneFile(folder)
    const refused = spawnSync(process.execPath, [program, 'dev', '--port', '65536'], { encoding: 'utf8' })
    expect(refused).toMatchObject({ status: 2, stdout: '' })
    expect(await readdir(folder)).toContain('bundle.cjs.dev.cache')
    const workplace = await newWorkplace()
    onTestFinished(workplace.remove)
    const service = await startKeptProcess(['dev', '--port', '0'], workplace.place, program)
    expect(await service.stop()).toBe(0)
  },
)

const lines = [
  ['--version'],
  ['partner'],
  ['partner', 'show'],
  ['partner', 'list'],
  ['partner', 'list', '--json'],
]

test.runIf(inject('residentCommand'))(
  'a command ends with the same code and words in the process that stays as in one of its own',
  async () => {
    const { place, remove } = await newWorkplace()
    onTestFinished(remove)
    const { env, cwd } = place
    for (const words of lines) {
      const { status, stdout, stderr } = spawnSync(process.execPath, [inject('command'), ...words], {
        env,
        cwd,
        encoding: 'utf8',
      })
      expect(await runInResident({ words, env, cwd })).toEqual({ code: status, stdout, stderr })
    }
    // The process keeps no state of these commands: the next one looks for its database elsewhere, and finds none.
    const elsewhere = { env: {}, cwd }
    expect(await runInResident({ words: ['partner', 'list'], ...elsewhere })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`There is no database in ${cwd}/data`),
    })
  },
)
