import { spawnSync } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { expect, onTestFinished } from 'vitest'
import { ciTest } from '../long.ts'
import { buildOneFile } from '../one-file.ts'
import { newWorkplace } from './place.ts'
import { newDirectory, startKeptProcess } from './process.ts'

ciTest('the one file of the tests serves with the code that a refused start of it has stored', async () => {
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
})
