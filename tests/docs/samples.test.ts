import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

// The code that the published documents show: every block is compiled, and the checks of deliveries are run.
const root = fileURLToPath(new URL('../..', import.meta.url))
const site = JSON.parse(readFileSync(join(root, 'service/dist/docs/site.json'), 'utf8')) as {
  pages: { path: string; markdown: string }[]
}

type Block = { page: string; language: string; code: string }
const blocks: readonly Block[] = site.pages.flatMap(({ path, markdown }) =>
  [...markdown.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].map(([, language = '', code = '']) => ({
    page: path,
    language,
    code,
  })),
)
function of(language: string) {
  return blocks.filter(block => block.language === language)
}

function hasProgram(program: string, ...options: string[]) {
  const isThere = spawnSync(program, options).error === undefined
  if (!isThere) process.stderr.write(`NO ${program}: what the docs show for it is not run here.\n`)
  return isThere
}
const has = {
  python3: hasProgram('python3', '--version'),
  php: hasProgram('php', '--version'),
  ruby: hasProgram('ruby', '--version'),
  java: hasProgram('javac', '--version'),
  // Go asks the kernel for the time, so it is not under the clock of scripts/clocks.mjs.
  go: hasProgram('go', 'version') && !process.env['CLOCK_AHEAD'],
  csharp: hasProgram('mcs', '--version') && hasProgram('mono', '--version'),
}

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docs-samples-'))
  await mkdir(join(folder, 'node_modules'))
  await symlink(
    join(root, 'node_modules/@benefit-enrolment'),
    join(folder, 'node_modules/@benefit-enrolment'),
  )
  await symlink(join(root, 'node_modules/@types'), join(folder, 'node_modules/@types'))
  await symlink(join(root, 'node_modules/undici-types'), join(folder, 'node_modules/undici-types'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

function run(program: string, ...options: string[]): SpawnSyncReturns<string> {
  return spawnSync(program, options, { cwd: folder, encoding: 'utf8' })
}
function succeeded({ status, stderr, stdout }: SpawnSyncReturns<string>, about: string) {
  return expect({ about, status, output: status === 0 ? '' : stderr + stdout }).toEqual({
    about,
    status: 0,
    output: '',
  })
}

test('every language that is shown is checked by a test here', () => {
  const checked = ['sh', 'ts', 'js', 'python', 'php', 'ruby', 'java', 'csharp', 'go', 'json']
  const shownElsewhere = ['http', 'html', 'jsx', 'text', 'mermaid']
  const shown = [...new Set(blocks.map(({ language }) => language))]
  expect(shown.filter(language => ![...checked, ...shownElsewhere].includes(language))).toEqual([])
  expect(shown).toEqual(expect.arrayContaining(['sh', 'ts', 'js', 'python', 'php', 'ruby', 'java', 'csharp']))
})

test('JSON is JSON', () => {
  for (const { page, code } of of('json')) expect(() => JSON.parse(code), page).not.toThrow()
})

test('shell lines are read by bash', async () => {
  for (const [at, { page, code }] of of('sh').entries()) {
    await writeFile(join(folder, `${at}.sh`), code)
    succeeded(run('bash', '-n', `${at}.sh`), page)
  }
})

test('TypeScript compiles against the published types of the client', async () => {
  const given = [
    "import type { PartnerClient } from '@benefit-enrolment/client'",
    "import type { WebhookEvent } from '@benefit-enrolment/client'",
    'declare global {',
    '  const client: PartnerClient',
    '  function store(key: string, event: WebhookEvent): Promise<boolean>',
    '  function queueYourOwnWork(event: WebhookEvent): void',
    '}',
    '',
  ]
  await writeFile(join(folder, 'given.d.ts'), given.join('\n'))
  const files = await Promise.all(
    of('ts').map(async ({ code }, at) => {
      const hasOwnClient = /const client\b/.test(code)
      await writeFile(join(folder, `sample-${at}.ts`), hasOwnClient ? code : `${code}\nexport {}\n`)
      return `sample-${at}.ts`
    }),
  )
  const options = {
    module: 'nodenext',
    target: 'es2022',
    strict: true,
    noEmit: true,
    types: ['node'],
    skipLibCheck: true,
  }
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, files: ['given.d.ts', ...files] }),
  )
  succeeded(run(process.execPath, join(root, 'node_modules/typescript/bin/tsc'), '-p', '.'), 'TypeScript')
})

test('JavaScript is read by Node', async () => {
  for (const [at, { page, code }] of of('js').entries()) {
    const isPart = /\breturn\b/.test(code.replace(/\{[\s\S]*\}/g, ''))
    await writeFile(join(folder, `${at}.mjs`), isPart ? `async () => {${code}}` : code)
    succeeded(run(process.execPath, '--check', `${at}.mjs`), page)
  }
})

test.runIf(has.python3)('Python compiles', async () => {
  for (const [at, { code }] of of('python').entries()) await writeFile(join(folder, `sample${at}.py`), code)
  succeeded(run('python3', '-m', 'compileall', '-q', '.'), 'Python')
})

describe('the check of a delivery', () => {
  const shown = (language: string) => of(language).find(({ page }) => page === 'verify-webhooks')?.code ?? ''
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw3bA7o0Zb2Xk='
  const body = '{"userid":"ünïcode","eventname":"offer_activiation_successful"}'
  const id = '019aa1b2-0d11-7c00-8a3e-5b6c7d8e9f00'
  const sign = (timestamp: string) =>
    `v1,${createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
      .update(`${id}.${timestamp}.${body}`)
      .digest('base64')}`

  /** Each is started as `program secret id timestamp signatures body`, and prints `true` or `false`. */
  const programs: Record<
    string,
    {
      isThere: boolean
      file: string
      text: () => string
      /** What compiles the file, where that is a step of its own. */
      compile?: (file: string) => string[]
      start: (file: string) => string[]
    }
  > = {
    js: {
      isThere: true,
      file: 'check.mjs',
      text: () =>
        `${shown('js')}\nconst [secret, id, timestamp, signatures, body] = process.argv.slice(2)\nconsole.log(isOurs(secret, { id, timestamp, signatures }, Buffer.from(body)))\n`,
      start: file => [process.execPath, file],
    },
    python: {
      isThere: has.python3,
      file: 'check.py',
      text: () =>
        `${shown('python')}\nimport sys\ns, i, t, g, b = sys.argv[1:]\nprint(str(is_ours(s, i, t, g, b.encode())).lower())\n`,
      start: file => ['python3', file],
    },
    php: {
      isThere: has.php,
      file: 'check.php',
      text: () => `${shown('php')}\necho is_ours(...array_slice($argv, 1)) ? 'true' : 'false';\n`,
      start: file => ['php', file],
    },
    ruby: {
      isThere: has.ruby,
      file: 'check.rb',
      text: () => `${shown('ruby')}\nputs ours?(*ARGV)\n`,
      start: file => ['ruby', file],
    },
    java: {
      isThere: has.java,
      file: 'Check.java',
      text: () => {
        const code = shown('java')
        const imports = code.match(/^import .*$/gm)?.join('\n') ?? ''
        const main =
          'class Check { public static void main(String[] a) throws Exception { System.out.println(Deliveries.isOurs(a[0], a[1], a[2], a[3], a[4].getBytes(StandardCharsets.UTF_8))); } }'
        return `${imports}\n${main}\n${code.replace(/^import .*$/gm, '')}`
      },
      compile: file => ['javac', '-encoding', 'UTF-8', file],
      start: () => ['java', '-Dfile.encoding=UTF-8', '-Dsun.jnu.encoding=UTF-8', 'Check'],
    },
    go: {
      isThere: has.go,
      file: 'check.go',
      text: () =>
        `${shown('go').replace('import (', 'import (\n\t"fmt"\n\t"os"')}\nfunc main() { a := os.Args; fmt.Println(isOurs(a[1], a[2], a[3], a[4], []byte(a[5]))) }\n`,
      compile: file => ['go', 'build', '-o', 'check-go', file],
      start: () => ['./check-go'],
    },
    csharp: {
      isThere: has.csharp,
      file: 'check.cs',
      text: () =>
        `${shown('csharp')}
static class Check
{
    static void Main(string[] a) { Console.WriteLine(Deliveries.IsOurs(a[0], a[1], a[2], a[3], Encoding.UTF8.GetBytes(a[4])) ? "true" : "false"); }
}
`,
      compile: file => ['mcs', '-warnaserror', '-out:check.exe', file],
      start: () => ['mono', 'check.exe'],
    },
  }

  test.for(Object.keys(programs))(
    'in %s takes what is ours and refuses a forged, an old and another body',
    async (language, context) => {
      const program = programs[language]
      if (!program?.isThere) return context.skip(`no ${language} here`)
      const [command = '', ...options] = program.start(program.file)
      await writeFile(join(folder, program.file), program.text())
      const [compiler, ...words] = program.compile?.(program.file) ?? []
      if (compiler) succeeded(run(compiler, ...words), language)
      const checks = (timestamp: string, signatures: string, sent = body) => {
        const result = spawnSync(command, [...options, secret, id, timestamp, signatures, sent], {
          cwd: folder,
          encoding: 'utf8',
          env: { ...process.env, LC_ALL: 'C.UTF-8' },
        })
        succeeded(result, language)
        return result.stdout.trim()
      }
      const now = String(Math.floor(Date.now() / 1000))
      const old = String(Number(now) - 400)
      expect(checks(now, sign(now))).toBe('true')
      expect(checks(now, `v1,AAAA ${sign(now)}`)).toBe('true')
      expect(checks(now, sign(now).replace(/.{5}=$/, 'AAAAA='))).toBe('false')
      expect(checks(old, sign(old))).toBe('false')
      expect(checks(now, sign(now), `${body} `)).toBe('false')
    },
  )
})
