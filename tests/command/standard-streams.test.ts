import { spawn } from 'node:child_process'
import { existsSync, openSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { newWorkplace } from './place.ts'
import { bin, startProcess } from './process.ts'

/** Runs a command that writes its answer to this file; returns its exit code and what standard error got. */
async function runInto(file: string, words: readonly string[]): Promise<{ code: number; stderr: string }> {
  const child = spawn(process.execPath, [bin, ...words], {
    stdio: ['ignore', openSync(file, 'w'), 'pipe'],
  })
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', text => {
    stderr += text
  })
  const code = await new Promise<number>(resolve => child.on('close', resolve))
  return { code, stderr }
}

async function serve() {
  const { place, remove } = await newWorkplace()
  onTestFinished(remove)
  return startProcess(['serve', '--port', '0'], place)
}

test('a service works on, and ends in order, when the reader of its log is gone', async () => {
  const service = await serve()
  service.child.stderr?.destroy()
  for (let count = 0; count < 3; count += 1) {
    // Each answer is logged; the second line after the reader has gone would end the process.
    expect((await fetch(`${service.address}/nowhere`)).status).toBe(404)
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  expect(await service.stop('SIGTERM')).toBe(0)
})

test('a service ends in order when its log is no longer read', async () => {
  const service = await serve()
  service.child.stderr?.pause()
  const long = 'x'.repeat(50)
  for (let count = 0; count < 40; count += 1)
    await Promise.all(Array.from({ length: 25 }, () => fetch(`${service.address}/${long}`)))
  expect(await service.stop('SIGTERM')).toBe(0)
})

test.skipIf(!existsSync('/dev/full'))(
  'an answer that cannot be written is said to be incomplete',
  async () => {
    const asked = [
      ['catalogue', 'schema'],
      ['--help'],
      ['--version'],
      ['partner', '--help'],
      ['partner', 'create', '--help'],
    ]
    for (const words of asked)
      expect([words, await runInto('/dev/full', words)]).toEqual([
        words,
        { code: 1, stderr: 'Standard output could not be written (ENOSPC): the answer is incomplete.\n' },
      ])
  },
)
