import { spawn, spawnSync } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { transform } from 'esbuild'
import { onTestFinished } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** What was answered to a sample of the docs. */
export type Answered = {
  readonly path: string
  readonly status: number
  readonly code: string | undefined
  /** The status of each line of a bulk, whose answer is 200 whatever its lines are. */
  readonly lines?: readonly number[]
}

/** Where samples run: the folder, and the credentials and the clock by their names. */
export type Place = { readonly folder: string; readonly env: Readonly<Record<string, string>> }

/** Passes each request on to the service, and records what was answered; it ends with the test. */
export async function startRecorder(service: string): Promise<{ address: string; answered: Answered[] }> {
  const answered: Answered[] = []
  const server = createServer((asked, answer) => {
    const { method, url: path = '', headers } = asked
    const passed = request(service + path, { method, headers }, async given => {
      const body = Buffer.concat(await given.toArray())
      const status = given.statusCode ?? 0
      const text = body.toString()
      const lines = path.startsWith('/user/bulk')
        ? { lines: [...text.matchAll(/^\{"line":\d+,"status":(\d+)/gm)].map(([, line]) => Number(line)) }
        : {}
      answered.push({ path, status, code: /"code": ?"(\w+)"/.exec(text)?.[1], ...lines })
      answer.writeHead(status, given.headers).end(body)
    })
    asked.pipe(passed)
  })
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => void server.close().closeAllConnections())
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, answered }
}

/** Whether Python is here with the package of the samples. */
export const hasPython = spawnSync('python3', ['-c', 'import requests']).status === 0
if (!hasPython) console.warn('!!!! python3 or its requests is missing: no sample in Python is run.')

/**
 * By the word that begins a block: runs blocks one after another, and returns what failed of their own, such as a name that is
 * not given. That the service refused a request is no failure here: the recorder knows.
 */
export const runs: Readonly<Record<string, (blocks: readonly string[], place: Place) => Promise<string>>> = {
  sh: async (blocks, place) => {
    const script = ['exec >/dev/null 2>&1', ...blocks.filter(code => /^curl /.test(code))].join('\n')
    await outputOf('bash', ['-c', script], place)
    return ''
  },
  'ts|js': async (blocks, place) => {
    await mkdir(join(place.folder, 'node_modules'), { recursive: true })
    await symlink(
      join(root, 'node_modules/@benefit-enrolment'),
      join(place.folder, 'node_modules/@benefit-enrolment'),
    ).catch(() => {})
    const runnable = blocks.filter(
      code => !/\.listen\(|BenefitEnrolment\.|\breturn\b(?![\s\S]*^\})/m.test(code),
    )
    const files = await Promise.all(
      runnable.map(async (code, at) => {
        const { code: script } = await transform(code.replace('100_000', '100'), {
          loader: 'ts',
          format: 'esm',
        })
        await writeFile(join(place.folder, `sample-${at}.mjs`), script)
        return `./sample-${at}.mjs`
      }),
    )
    await writeFile(join(place.folder, 'samples.mjs'), scriptOf(files))
    return outputOf(process.execPath, ['samples.mjs'], place)
  },
  python: async (blocks, place) => {
    const runnable = blocks.filter(code => !/serve_forever|^from api\b|\bBenefits\(/m.test(code))
    await writeFile(join(place.folder, 'samples.json'), JSON.stringify(runnable))
    const env = { ...place.env, PYTHONPATH: join(root, 'tests/docs'), PYTHONDONTWRITEBYTECODE: '1' }
    return outputOf('python3', ['-c', inPython], { ...place, env })
  },
}

/** A script that runs these files with all that the samples take as given. */
function scriptOf(files: readonly string[]): string {
  return `
import { createClient } from '@benefit-enrolment/client'
const { BASE_URL: baseUrl, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret, API_KEY: apiKey } = process.env
const options = { baseUrl, clientId, clientSecret, apiKey }
process.env.BENEFITS_CLIENT_ID = clientId
process.env.BENEFITS_CLIENT_SECRET = clientSecret
process.env.BENEFITS_API_KEY = apiKey
async function nothing() {}
const log = Object.assign(() => {}, { info: () => {} })
Object.assign(globalThis, {
  client: createClient(options), createClient, options, session: { userid: 'u-1001' }, resulttoken: 'enr_rt_sandbox_1',
  show: log, log, report: log, lines: [], stopping: AbortSignal.abort(),
  marks: { load: nothing, save: nothing }, cursors: { load: nothing, save: nothing },
  mirror: { store: nothing }, payroll: { deduct: nothing }, inbox: { storeOnce: nothing },
})
console.log = () => {}
for (const file of ${JSON.stringify(files)})
  await import(file).catch(error => {
    if (error.status === undefined && error.name !== 'AbortError') process.stdout.write(file + ' ' + error.stack + '\\n')
  })
`
}

const inPython = `
import json, os, sys, traceback
import requests
given = {name.lower(): os.environ[name] for name in ("TOKEN", "API_KEY", "CLIENT_ID", "CLIENT_SECRET")}
out, sys.stdout = sys.stdout, open(os.devnull, "w")
for code in json.load(open("samples.json")):
    try:
        exec(code, dict(given))
    except requests.HTTPError:
        pass
    except Exception:
        print(code, traceback.format_exc(), file=out)
`

function outputOf(program: string, words: readonly string[], { folder, env }: Place): Promise<string> {
  const child = spawn(program, words, { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.on('data', part => {
    text += part
  })
  return new Promise(resolve => child.once('close', () => resolve(text)))
}
