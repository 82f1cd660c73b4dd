import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { version } from '../../embed/src/events.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const borrowed = ['react', 'react-dom', 'scheduler', '@types/react', '@types/react-dom', 'csstype']

/** A partner's code: every entry, with its types. */
const app = `
import { createClient, type LinkToken } from '@benefit-enrolment/client'
import { create, type EnrolmentEvent, type Exit, version } from '@benefit-enrolment/embed'
import { defineElement } from '@benefit-enrolment/embed/element'
import { BenefitEnrolment, useBenefitEnrolment } from '@benefit-enrolment/embed/react'
import type { DropIn } from '@benefit-enrolment/embed/drop-in'
import type { ReactElement } from 'react'

const where = { service: 'https://benefits.example.com', partner: '019abc12-3456-7def-8123-456789abcdea' }
const client = createClient({ baseUrl: where.service, clientId: 'c', clientSecret: 's', apiKey: 'k' })
async function mint(): Promise<LinkToken> {
  return client.createLinkToken({ userid: 'u1', delivery: 'embed' })
}
async function token() {
  return (await mint()).linktoken
}

export function told(event: EnrolmentEvent): string {
  return event.name === 'ERROR' ? event.developermessage : event.name === 'READY' ? event.sessionid : version
}
const embed = create({ ...where, token, onEvent: told, onExit: ({ resulttoken }: Exit) => resulttoken })
embed.update({ locale: 'es', appearance: { light: { accent: '#5b21b6' }, radius: 4 } })
// @ts-expect-error there is no such language
embed.update({ locale: 'fr' })
// @ts-expect-error the partner is missing
create({ service: where.service, token })

defineElement(where)
const element = document.querySelector('benefit-enrolment')
element?.addEventListener('success', ({ detail }) => detail.resulttoken.length)
if (element) element.token = token
const dropIn: DropIn | undefined = globalThis.BenefitEnrolment
dropIn?.create({ token: 'enr_lt_sandbox_x' }).open()

export function Mine(): ReactElement {
  const { open } = useBenefitEnrolment({ ...where, token })
  return <button onClick={open}>Mine<BenefitEnrolment {...where} token={token} /></button>
}
`
const serverApp = `
import { createElement, StrictMode } from 'react'
import { renderToString } from 'react-dom/server'
import { create } from '@benefit-enrolment/embed'
import { defineElement } from '@benefit-enrolment/embed/element'
import '@benefit-enrolment/embed/drop-in'
import { BenefitEnrolment } from '@benefit-enrolment/embed/react'

if (typeof document !== 'undefined') throw new Error('not a server')
const options = { service: 'https://benefits.example.com', partner: 'p', token: 'enr_lt_sandbox_x' }
defineElement(options)
create(options).destroy()
const page = createElement(StrictMode, null, createElement(BenefitEnrolment, options))
process.stdout.write(JSON.stringify({ html: renderToString(page), version: globalThis.BenefitEnrolment.version }))
`
const tsconfig = {
  compilerOptions: {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    module: 'nodenext',
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable'],
    jsx: 'react-jsx',
    types: [],
  },
  files: ['app.tsx'],
}

describe('the packages for partners, installed from npm pack into an empty project', () => {
  let project: string
  let packed: { name: string; filename: string; files: { path: string }[] }[]

  const npm = (args: readonly string[], cwd: string) =>
    execFileSync('npm', [...args, '--offline', '--loglevel=error', '--ignore-scripts'], {
      cwd,
      encoding: 'utf8',
    })

  beforeAll(() => {
    project = mkdtempSync(join(tmpdir(), 'enrolment-npm-'))
    writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
    const workspaces = ['-w', 'embed', '-w', 'client']
    packed = JSON.parse(npm(['pack', ...workspaces, '--json', '--pack-destination', project], root))
    const files = packed.map(({ filename }) => `./${filename}`)
    npm(['install', '--no-audit', '--no-fund', '--no-package-lock', ...files], project)
    // React is the partner's own.
    mkdirSync(join(project, 'node_modules/@types'), { recursive: true })
    for (const name of borrowed)
      symlinkSync(join(root, 'node_modules', name), join(project, 'node_modules', name), 'junction')
    writeFileSync(join(project, 'app.tsx'), app)
    writeFileSync(join(project, 'server.mjs'), serverApp)
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(tsconfig))
  })
  afterAll(() => rmSync(project, { recursive: true, force: true }))

  test('hold what a partner needs and nothing else', () => {
    const paths = packed.flatMap(({ name, files }) =>
      files.map(({ path }) => `${name.split('/')[1]}/${path}`),
    )
    for (const needed of ['embed/README.md', 'embed/dist/benefit-enrolment.js', 'client/README.md'])
      expect(paths).toContain(needed)
    expect(
      paths.filter(
        path =>
          !/^\w+\/(package\.json|README\.md|LICENSE|dist\/cjs\/package\.json|dist\/(cjs\/)?[\w-]+\.(js|d\.ts|js\.map))$/.test(
            path,
          ),
      ),
    ).toEqual([])
  })

  test('give types that a strict compiler takes, wrong uses refused', () => {
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const check = () =>
      execFileSync(process.execPath, [tsc, '-p', project], { encoding: 'utf8', stdio: 'pipe' })
    expect(check()).toBe('')
  })

  test('can be bundled for browsers, the embed without React as small as the drop-in script', async () => {
    const bundle = async (contents: string) => {
      const { outputFiles, warnings } = await build({
        stdin: { contents, resolveDir: project, loader: 'tsx' },
        bundle: true,
        minify: true,
        write: false,
        format: 'esm',
        target: 'es2022',
        logLevel: 'silent',
        jsx: 'automatic',
      })
      expect(warnings).toEqual([])
      return outputFiles[0]?.text ?? ''
    }
    expect(await bundle(app)).toContain('benefit-enrolment/')
    const small = await bundle(
      "import { create } from '@benefit-enrolment/embed'; create(globalThis.options)",
    )
    expect(small.length).toBeLessThan(8 * 1024)
    expect(small).not.toContain('customElements')
  })

  test('can be imported and rendered where there is no document', () => {
    const printed = execFileSync(process.execPath, ['server.mjs'], { cwd: project, encoding: 'utf8' })
    expect(JSON.parse(printed)).toEqual({ html: '<div></div>', version })
  })
})
