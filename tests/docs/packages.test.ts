import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everydayOr } from '../long.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const tsc = join(root, 'node_modules/typescript/bin/tsc')

/** A partner's program; only `how` it loads the client differs. */
function use(how: string) {
  return `${how}
const client = createClient({ baseUrl: 'http://127.0.0.1:1', clientId: 'c', clientSecret: 's', apiKey: 'k', tries: 1 })
client.getBenefits({ userid: 'u-1', age: 36, state: 'FL', zipcode: '33101' }).then(
  () => { throw new Error('nobody listens there') },
  (error: unknown) => { if (!isBenefitEnrolmentError(error) || error.code !== 'network') throw error },
)
`
}
const named = "import { createClient, isBenefitEnrolmentError } from '@benefit-enrolment/client'"

describe('the client, installed from its tarball', () => {
  let folder: string
  let files: string[]
  const npm = (args: readonly string[], cwd: string) =>
    execFileSync('npm', [...args, '--offline', '--loglevel=error', '--ignore-scripts'], {
      cwd,
      encoding: 'utf8',
    })

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'enrolment-client-'))
    const packed = JSON.parse(
      npm(['pack', '-w', 'client', '--json', '--pack-destination', folder], root),
    ) as {
      filename: string
      files: { path: string }[]
    }[]
    files = packed.flatMap(one => one.files.map(({ path }) => path))
    writeFileSync(join(folder, 'package.json'), '{"private":true}')
    npm(['install', '--no-audit', '--no-fund', '--no-package-lock', `./${packed[0]?.filename}`], folder)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('brings licence and README, and nothing that a build left over', () => {
    expect(files).toEqual(
      expect.arrayContaining(['LICENSE', 'README.md', 'dist/index.js', 'dist/cjs/index.js']),
    )
    expect(files.filter(path => /tsbuildinfo|drift|\.test\.|^src|^test/.test(path))).toEqual([])
  })

  const kinds = [
    ['an ES module', 'module', 'nodenext', 'nodenext', named],
    ['a CommonJS project', 'commonjs', 'node16', 'node16', named],
    [
      'a CommonJS project with require',
      'commonjs',
      'node16',
      'node16',
      named.replace(/import (\{.*\}) from (.*)/, 'import client_ = require($2); const $1 = client_'),
    ],
    ['a project for bundlers', 'module', 'esnext', 'bundler', named],
  ] as const
  test.each(everydayOr<readonly (typeof kinds)[number][]>(kinds.slice(0, 2), kinds))(
    'compiles and runs in %s',
    (_kind, type, module, moduleResolution, how) => {
      const place = join(folder, `${type}-${moduleResolution}-${how.length}`)
      mkdirSync(place)
      writeFileSync(join(place, 'package.json'), JSON.stringify({ private: true, type }))
      writeFileSync(join(place, 'app.ts'), use(how))
      const compilerOptions = {
        strict: true,
        module,
        moduleResolution,
        target: 'es2022',
        lib: ['es2023', 'dom'],
        types: [],
        outDir: 'out',
      }
      writeFileSync(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['app.ts'] }))
      const compiled = spawnSync(process.execPath, [tsc, '-p', place], { encoding: 'utf8' })
      expect(compiled.stdout + compiled.stderr).toBe('')
      const ran = spawnSync(process.execPath, [join(place, 'out/app.js')], { encoding: 'utf8' })
      expect({ status: ran.status, stderr: ran.stderr }).toEqual({ status: 0, stderr: '' })
    },
  )

  // TypeScript 7 no longer has that resolution: `scripts/check-interface.sh` compiles such a project with TypeScript 5.
  test('is found by the older resolution of TypeScript, which reads main and types alone', () => {
    const installed = join(folder, 'node_modules/@benefit-enrolment/client')
    const { main, types } = JSON.parse(
      execFileSync('cat', [join(installed, 'package.json')], { encoding: 'utf8' }),
    ) as {
      main: string
      types: string
    }
    const answer = spawnSync(
      process.execPath,
      ['-e', `console.log(typeof require(${JSON.stringify(join(installed, main))}).createClient)`],
      { encoding: 'utf8' },
    )
    expect(answer.stdout).toBe('function\n')
    expect(types).toBe(main.replace(/\.js$/, '.d.ts'))
  })
})
