import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { newWorkplace } from '../command/place.ts'
import { newDataDir, root, run, startProcess } from '../command/process.ts'

function read(path: string) {
  return readFileSync(`${root}/${path}`, 'utf8')
}

test('the image says which version it is, images are named by what they contain, packages come from the lockfile, and no container can gain rights', () => {
  const dockerfile = read('deploy/Dockerfile')
  const { version } = JSON.parse(read('service/package.json')) as { version: string }
  const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, name = '']) => name)
  const compose = parse(read('deploy/compose.yaml')) as { services: Record<string, Record<string, unknown>> }
  const services = Object.values(compose.services)
  for (const name of [...bases, ...services.flatMap(({ image }) => (image ? [String(image)] : []))])
    expect(name).toMatch(/@sha256:[0-9a-f]{64}$/)
  expect(dockerfile).toContain(`org.opencontainers.image.version="${version}"`)
  expect(dockerfile).not.toMatch(/npm (i|install|add)\b/)
  for (const service of services)
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    })
})

/** What the image runs, and in which environment. */
function image(): { words: string[]; env: Record<string, string> } {
  const dockerfile = read('deploy/Dockerfile').split('\n')
  const [cmd = ''] = dockerfile.flatMap(line => /^CMD (\[.*\])$/.exec(line)?.[1] ?? [])
  const settings = dockerfile.flatMap(line => (/^ENV (.*)$/.exec(line)?.[1] ?? '').split(' '))
  return {
    words: JSON.parse(cmd) as string[],
    env: Object.fromEntries(settings.filter(Boolean).map(one => one.split('=') as [string, string])),
  }
}

test('a command run in the container as docs/deploying.md says uses the keys of the service there', async () => {
  const [, given = ''] =
    /^docker compose .* exec service \\\n +node .*enrolment\.js (.*)$/m.exec(read('docs/deploying.md')) ?? []
  const command = [...given.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => quoted ?? word)
  expect(command.slice(0, 2)).toEqual(['partner', 'create'])
  const { place, remove } = await newWorkplace()
  onTestFinished(remove)
  const { words, env: inside } = image()
  expect(inside['ENROLMENT_DATA']).toBe('/data')
  const data = await newDataDir()
  const env = { ...inside, ...place.env, ENROLMENT_DATA: data, HOST: '127.0.0.1', PORT: '0' }
  const service = await startProcess(words, { cwd: place.cwd, env })
  expect(await run(command, { cwd: place.cwd, env })).toMatchObject({ code: 0 })
  expect(await service.stop()).toBe(0)
})
