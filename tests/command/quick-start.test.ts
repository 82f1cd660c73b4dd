import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { newDirectory, root, runJson, startProcess } from './process.ts'

// docs/quick-start.md says that its blocks can be copied unchanged, one after the other, into one shell.

test('the lines of the quick start work as they stand, against what `npm start` runs', async () => {
  const { path: folder, remove } = await newDirectory()
  onTestFinished(remove)
  const service = await startProcess(['dev', '--port', '0', '--data', join(folder, 'data')])
  onTestFinished(() => service.stop().then(() => {}))
  await expect.poll(service.stdout).toContain('the webhooks that arrived')
  const text = await readFile(join(root, 'docs/quick-start.md'), 'utf8')
  const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, code = '']) => code)
  expect(blocks.length).toBeGreaterThan(6)
  // The six commands, except the clone and the start, which `.ci/run` does, and the listener, which partner-tools
  // tests.
  const six = [...text.matchAll(/^npx enrolment (trigger|link) .*$/gm)].map(([line]) =>
    line.split(' ').slice(2),
  )
  expect(six.map(words => words[0])).toEqual(['trigger', 'link'])
  for (const words of six)
    await runJson([...words, ...(words[0] === 'link' ? ['--print'] : [])], { cwd: folder })

  const script = ['set -e', ...blocks].join("\necho '---'\n")
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd: folder })
  const [, , , , prefilled = '', listed = '', link = '', created = '', events = ''] = stdout
    .split('---\n')
    .map(part => part.trim())
  expect(JSON.parse(prefilled)).toBe('prefill saved')
  expect(JSON.parse(listed)).toEqual(
    expect.arrayContaining([expect.objectContaining({ name: 'telehealth', status: 'notenrolled' })]),
  )
  expect(JSON.parse(link)).toMatchObject({ linkurl: expect.stringContaining(service.address) })
  expect(JSON.parse(created)).toMatchObject({ status: 'active', currentofferdetails: { offer: 'starter' } })
  const { events: raised } = JSON.parse(events) as { events: { eventname: string }[] }
  expect(raised.map(({ eventname }) => eventname)).toEqual([
    'enrollment_request_received',
    'enrollment_successful',
    'offer_activiation_successful',
  ])
})
