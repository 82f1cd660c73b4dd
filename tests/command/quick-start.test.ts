import { spawn } from 'node:child_process'
import { readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../free-port.ts'
import { newWorkplace } from './place.ts'
import { root, runJson, startProcess } from './process.ts'

// docs/quick-start.md says that its blocks can be copied unchanged, one after the other, into one shell.

test('the lines of the quick start work as they stand, against what `npm start` runs', async () => {
  const { place, remove } = await newWorkplace()
  onTestFinished(remove)
  const { cwd: folder } = place
  const service = await startProcess(['dev', '--port', '0'], place)
  await expect.poll(service.stdout).toContain('the webhooks that arrived')
  const text = await readFile(join(root, 'docs/quick-start.md'), 'utf8')
  const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, code = '']) => code)
  expect(blocks.length).toBeGreaterThan(6)
  // `.ci/run` does the clone and the start, and partner-tools tests the listener.
  const commands = [...text.matchAll(/^npx benefit-enrolment (trigger|link) .*$/gm)].map(([line]) =>
    line.split(' ').slice(2),
  )
  expect(commands.map(words => words[0])).toEqual(['trigger', 'link'])
  for (const words of commands)
    await runJson([...words, ...(words[0] === 'link' ? ['--print'] : [])], { cwd: folder })

  // In a clone the client is installed; port 3000 may be taken.
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  const port = String(await freePort())
  const script = ['set -e', ...blocks, 'wait'].join("\necho '---'\n").replaceAll('3000', port)
  const shell = spawn('bash', ['-c', script], { cwd: folder, detached: true })
  onTestFinished(() => void process.kill(-(shell.pid ?? 0)))
  let stdout = ''
  shell.stdout.on('data', part => {
    stdout += part
  })
  await expect.poll(() => stdout).toMatch(/^verified: user_update_successful quick-/m)
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
