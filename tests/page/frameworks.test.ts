// @nightly

import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build as buildWithVite } from 'vite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isLong } from '../long.ts'
import { describeInBrowser, launchBrowser } from './browser.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
/** What needs a download of some 200 MB, and the work of ten other files, runs in `npm run test:long` or when it is asked for. */
const isFull = process.env['FRAMEWORK_TESTS'] === 'full' || isLong
/** Where `.ci/run` has a TypeScript that still knows `moduleResolution: node`; ours does not. */
const tools = process.env['TEST_TOOLS']

function npm(args: readonly string[], cwd: string) {
  return execFileSync('npm', [...args, '--loglevel=error', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** An empty project with the packed embed in it, as a partner has it. */
function newProject(name: string): string {
  const project = mkdtempSync(join(tmpdir(), `enrolment-${name}-`))
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  const packed = npm(['pack', '-w', 'embed', '--json', '--pack-destination', project], root)
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }]
  npm(['install', '--offline', '--no-package-lock', `./${filename}`], project)
  return project
}
function borrow(project: string, names: readonly string[], from = root) {
  mkdirSync(join(project, 'node_modules/@types'), { recursive: true })
  for (const name of names) symlinkSync(join(from, 'node_modules', name), join(project, 'node_modules', name))
}

const page = `
import { createRoot } from 'react-dom/client'
import { BenefitEnrolment } from '@benefit-enrolment/embed/react'
const where = { service: 'https://benefits.example.com', partner: '019abc12-3456-7def-8123-456789abcdea' }
createRoot(document.getElementById('root')).render(<main><h1>Mine</h1><BenefitEnrolment {...where} token="x" /></main>)
`

describe('the packed embed', () => {
  let project: string
  beforeAll(() => {
    project = newProject('vite')
    borrow(project, ['react', 'react-dom', 'scheduler'])
  })
  afterAll(() => rmSync(project, { recursive: true, force: true }))

  test('says first that it belongs to the client, and where its types are for those who do not read exports', () => {
    const folder = join(project, 'node_modules/@benefit-enrolment/embed')
    expect(readFileSync(join(folder, 'dist/react.js'), 'utf8')).toMatch(/^'use client'/)
    const { main, types, typesVersions, exports } = JSON.parse(
      readFileSync(join(folder, 'package.json'), 'utf8'),
    )
    for (const path of [main, types]) expect(existsSync(join(folder, path))).toBe(true)
    const named = Object.keys(exports).filter(entry => entry !== '.')
    expect(Object.keys(typesVersions['*']).map(entry => `./${entry}`)).toEqual(named)
    for (const entry of named) expect(typesVersions['*'][entry.slice(2)]).toEqual([exports[entry].types])
  })

  describeInBrowser('in a browser', () => {
    test.each(['vite', 'plain html'])('works in a page built with %s', async kind => {
      if (kind === 'vite') {
        writeFileSync(join(project, 'main.jsx'), page)
        writeFileSync(
          join(project, 'index.html'),
          '<!doctype html><title>Mine</title><div id="root"></div><script type="module" src="/main.jsx"></script>',
        )
        await buildWithVite({ root: project, logLevel: 'silent', configFile: false })
      }
      const plain = `<!doctype html><title>Mine</title><h1>Mine</h1><script src="/drop-in.js"></script>
<div id="place"></div><script>BenefitEnrolment.create({ service: 'https://benefits.example.com', partner: 'p',
token: 'x', container: document.getElementById('place') }).open()</script>`
      const server = createServer((request, response) => {
        const { pathname } = new URL(request.url ?? '/', 'http://site')
        const send = (type: string, body: string | Buffer) =>
          response.writeHead(200, { 'content-type': type }).end(body)
        if (pathname === '/drop-in.js')
          return send(
            'text/javascript',
            readFileSync(join(project, 'node_modules/@benefit-enrolment/embed/dist/benefit-enrolment.js')),
          )
        if (pathname.endsWith('.js'))
          return send('text/javascript', readFileSync(join(project, 'dist', pathname)))
        return send('text/html', kind === 'vite' ? readFileSync(join(project, 'dist/index.html')) : plain)
      })
      await new Promise<void>(ready => server.listen(0, '127.0.0.1', ready))
      const browser = await launchBrowser()
      try {
        const shown = await browser.newPage()
        const faults: string[] = []
        shown.on('pageerror', error => faults.push(error.message))
        await shown.route('https://benefits.example.com/**', route =>
          route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Frame</title>' }),
        )
        await shown.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
        await shown.getByRole('heading', { name: 'Mine' }).waitFor()
        const frame = shown.locator('iframe')
        await frame.waitFor({ state: 'attached' })
        expect(await frame.getAttribute('src')).toMatch(/^https:\/\/benefits\.example\.com\/embed\/frame\?/)
        expect(faults).toEqual([])
      } finally {
        await browser.close()
        server.close()
      }
    })
  })
})

describe.skipIf(!isFull && !tools)('the packed embed in TypeScript', () => {
  let project: string
  beforeAll(() => {
    project = newProject('types')
    if (tools) borrow(project, ['typescript'], tools)
    else npm(['install', '--no-package-lock', 'typescript@5.9.3'], project)
    borrow(project, ['@types/react', '@types/node'])
  })
  afterAll(() => rmSync(project, { recursive: true, force: true }))

  test.each(['node', 'node16', 'bundler'])('has types under moduleResolution %s', moduleResolution => {
    const use = `import { create, type Exit } from '@benefit-enrolment/embed'
import { defineElement } from '@benefit-enrolment/embed/element'
import { BenefitEnrolment } from '@benefit-enrolment/embed/react'
import type { DropIn } from '@benefit-enrolment/embed/drop-in'
const where = { service: 'https://benefits.example.com', partner: 'p' }
defineElement(where)
create({ ...where, token: 'x', onExit: ({ resulttoken }: Exit) => resulttoken })
export function Mine() {
  return BenefitEnrolment({ ...where, token: 'x' })
}
export const dropIn: DropIn | undefined = globalThis.BenefitEnrolment
// @ts-expect-error the partner is missing, so that types that are silently any would be noticed
create({ service: 's', token: 'x' })
`
    writeFileSync(join(project, 'use.tsx'), use)
    const module = moduleResolution === 'node16' ? 'node16' : 'esnext'
    const tsc = join(project, 'node_modules/typescript/bin/tsc')
    const told = execFileSync(
      process.execPath,
      [
        tsc,
        '--noEmit',
        '--strict',
        '--skipLibCheck',
        'false',
        // All declarations are checked but those of TypeScript itself, which are most of the work.
        '--skipDefaultLibCheck',
        '--jsx',
        'react-jsx',
        '--module',
        module,
        '--moduleResolution',
        moduleResolution,
        '--target',
        'es2022',
        '--types',
        'node',
        'use.tsx',
      ],
      { cwd: project, encoding: 'utf8', stdio: 'pipe' },
    )
    expect(told).toBe('')
  })
})

describe.skipIf(!isFull)('the packed embed, downloads and all', () => {
  let project: string
  beforeAll(() => {
    project = newProject('next')
    // Next.js would fetch these itself for a page in TypeScript, in whatever version is the newest.
    const types = ['typescript@5.9.3', '@types/react@19.3.0', '@types/node@20.19.43']
    npm(
      ['install', '--no-package-lock', 'next@15.5.29', 'react@19.3.1', 'react-dom@19.3.1', ...types],
      project,
    )
  })
  afterAll(() => rmSync(project, { recursive: true, force: true }))

  test('renders on the server of a Next.js app, from a server component', async () => {
    mkdirSync(join(project, 'app'))
    writeFileSync(
      join(project, 'app/layout.tsx'),
      'function Layout({ children }: { children: React.ReactNode }) {\n  return <html lang="en"><body>{children}</body></html>\n}\nexport { Layout as default }\n',
    )
    writeFileSync(
      join(project, 'app/page.tsx'),
      `import { BenefitEnrolment } from '@benefit-enrolment/embed/react'
export const dynamic = 'force-dynamic'
function Page() {
  return <main><h1>Mine</h1><BenefitEnrolment service="https://benefits.example.com" partner="p" token="x" /></main>
}
export { Page as default }
`,
    )
    const next = join(project, 'node_modules/next/dist/bin/next')
    const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' as const }
    // The types are checked above, and what is small or fast is not looked at here: a third less to do.
    writeFileSync(
      join(project, 'next.config.mjs'),
      `export default {
  typescript: { ignoreBuildErrors: true },
  experimental: { cpus: 1, webpackBuildWorker: false },
  webpack: config => ({ ...config, optimization: { ...config.optimization, minimize: false } }),
}
`,
    )
    execFileSync(process.execPath, [next, 'build'], { cwd: project, env, stdio: 'pipe' })
    const running = spawn(process.execPath, [next, 'start', '-p', '0', '-H', '127.0.0.1'], {
      cwd: project,
      env,
    })
    try {
      const address = await new Promise<string>((found, failed) => {
        let said = ''
        running.stdout.on('data', chunk => {
          said += chunk
          const local = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0]
          if (local && !local.endsWith(':0')) found(local)
        })
        running.on('exit', () => failed(new Error(said)))
      })
      const answer = await fetch(address)
      expect(answer.status).toBe(200)
      expect(await answer.text()).toMatch(/<h1>Mine<\/h1><div><\/div>/)
    } finally {
      running.kill()
    }
  })
})
