// @whole

import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { newDirectory, startProcess } from '../command/process.ts'
import { wholeRunTest } from '../long.ts'

type Ran = { readonly page: string; readonly status: number; readonly code: string | undefined }

/** In place of curl: the same request, and then its status in a line of its own. */
const curl = `curl() { command curl -s -w '\\n%{http_code}\\n' "$@"; }`

wholeRunTest(
  'a year from now no example and no sample in the docs is a bad request, and the clock moves by each of its own',
  async () => {
    const { path: folder, remove } = await newDirectory()
    onTestFinished(remove)
    const later = { NODE_OPTIONS: `--import=${new URL('later.mjs', import.meta.url)}`, DAYS_AHEAD: '366' }
    const service = await startProcess(['dev', '--port', '0', '--data', join(folder, 'data')], { env: later })
    onTestFinished(() => service.stop().then(() => {}))
    await expect.poll(service.stdout, { timeout: 180_000 }).toContain('the webhooks that arrived')
    const read = async (path: string) => (await fetch(service.address + path)).text()
    const given = (name: string) => new RegExp(`^ *${name} +(\\S+)$`, 'm').exec(service.stdout())?.[1] ?? ''
    const env = {
      PATH: process.env['PATH'] ?? '',
      ...later,
      BASE_URL: service.address,
      CLIENT_ID: given('client id'),
      CLIENT_SECRET: given('client secret'),
      API_KEY: given('api key'),
      USERID: 'u-1001',
    }
    const token = `TOKEN=$(command curl -s -u "$CLIENT_ID:$CLIENT_SECRET" -d grant_type=client_credentials "$BASE_URL/oauth2/token" | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`
    await writeFile(
      join(folder, 'users.ndjson'),
      '{"operation":"prefill","key":"k","body":{"userid":"u-1001"}}\n',
    )

    const ran: Ran[] = []
    const pages = [...(await read('/llms.txt')).matchAll(/\/docs\/([\w/-]+)\.md/g)].map(
      ([, name = '']) => name,
    )
    for (const page of pages.filter(name => name !== 'quick-start')) {
      const blocks = [...(await read(`/docs/${page}.md`)).matchAll(/^```sh\n([\s\S]*?)^```/gm)]
      const samples = blocks.map(([, code = '']) => code).filter(code => /^curl /.test(code))
      if (samples.length === 0) continue
      const text = await outputOf(['set +e', curl, token, ...samples].join('\n'), { cwd: folder, env })
      for (const [, body = '', status] of text.matchAll(/([\s\S]*?)\n(\d{3})\n/g))
        ran.push({ page, status: Number(status), code: /"code": ?"(\w+)"/.exec(body)?.[1] })
    }
    expect(ran.length).toBeGreaterThan(45)
    expect(
      ran.filter(({ status, code }) => status >= 500 || status === 400 || code === 'bad_request'),
    ).toEqual([])
    const ofTheClock = ran.filter(({ page }) => page === 'sandbox' || page === 'reference/sandbox')
    expect(ofTheClock.map(({ status }) => status)).toEqual([200, 200])
  },
)

function outputOf(script: string, place: { cwd: string; env: Record<string, string> }): Promise<string> {
  const shell = spawn('bash', ['-c', script], { ...place, stdio: ['ignore', 'pipe', 'ignore'] })
  let text = ''
  shell.stdout.on('data', part => {
    text += part
  })
  return new Promise(resolve => shell.once('close', () => resolve(text)))
}
