import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { newWorkplace } from './place.ts'
import { root, runProcess } from './process.ts'

// Other tests call commands as functions, in the process of the test. Here one of each group is a process, as an operator has it.

/** A command line, and how it ends: 1 where the smallest thing to ask for is not there. */
const lines: readonly (readonly [words: string, code: 0 | 1])[] = [
  ['partner list', 0],
  ['keyring show', 0],
  ['catalogue list', 0],
  ['webhook add nobody --url https://hook.example --username hook --password-file -', 1],
  ['feed list', 0],
  ['statement list nobody', 1],
  ['import nobody members.csv --reason smoke', 1],
  ['user show nobody u-1', 1],
  ['operator list', 0],
  ['audit verify', 0],
  ['clock advance nobody 2027-01-01T00:00:00Z', 1],
  ['migrate', 0],
  ['maintain', 0],
  ['backup elsewhere', 1],
  ['copy --to postgres://127.0.0.1:1/none', 1],
  ['cell list', 0],
  ['people list', 1],
  ['doctor', 0],
]

test('one command of each group runs as a process, and ends by itself with its answer or a sentence', async () => {
  const { place, remove } = await newWorkplace()
  onTestFinished(remove)
  const ended = []
  for (const [words] of lines) {
    const { code, stdout, stderr } = await runProcess(words.split(' '), place)
    ended.push({ words, code, answers: stdout !== '', refuses: /^[A-Z`-].*[.)]\n$/s.test(stderr) })
  }
  expect(ended).toEqual(
    lines.map(([words, code]) => ({ words, code, answers: code === 0, refuses: code === 1 })),
  )
})

test('a command that has nothing left to wait for before it has ended tells that it failed', async () => {
  const module = pathToFileURL(join(root, 'command/dist/index.js'))
  const program = `
    import { startProgram } from ${JSON.stringify(module.href)}
    const never = { name: 'never', summary: 'Never ends.', run: () => new Promise(() => {}) }
    startProgram({ name: 'p', groups: [{ words: ['never'], load: async () => [never] }], options: {}, notes: [] })`
  const words = ['--input-type=module', '-e', program, 'never', 'never']
  const [code, stdout] = await new Promise<[unknown, string]>(resolve =>
    execFile(process.execPath, words, (error, written) => resolve([error?.code, written])),
  )
  expect([code, stdout]).toEqual([70, ''])
})
