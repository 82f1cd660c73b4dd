// @nightly

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { newDirectory, startProcess } from '../command/process.ts'
import { hasPython, runs, startRecorder } from './sample-runs.ts'

// The pages of languages have clients that are generated: scripts/try-clients.sh runs those.
const OTHERS = /^(quick-start|python|java|csharp|go|php|ruby)$/

describe('a year from now no example and no sample in the docs is a bad request, and the clock moves by each of its own', () => {
  for (const [language, run] of Object.entries(runs).filter(([name]) => name !== 'python' || hasPython))
    test(language, async () => {
      const { path: folder, remove } = await newDirectory()
      onTestFinished(remove)
      const later = { NODE_OPTIONS: `--import=${new URL('later.mjs', import.meta.url)}`, DAYS_AHEAD: '366' }
      const service = await startProcess(['dev', '--port', '0', '--data', join(folder, 'data')], {
        env: later,
      })
      onTestFinished(() => service.stop().then(() => {}))
      await expect.poll(service.stdout).toContain('the webhooks that arrived')
      const read = async (path: string) => (await fetch(service.address + path)).text()
      const given = (name: string) => new RegExp(`^ *${name} +(\\S+)$`, 'm').exec(service.stdout())?.[1] ?? ''
      const credentials = [given('client id'), given('client secret')] as const
      const token = await fetch(`${service.address}/oauth2/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa(credentials.join(':'))}` },
        body: new URLSearchParams({ grant_type: 'client_credentials' }),
      })
      const { access_token: TOKEN } = (await token.json()) as { access_token: string }
      const { address, answered } = await startRecorder(service.address)
      const env = {
        PATH: process.env['PATH'] ?? '',
        ...later,
        BASE_URL: address,
        CLIENT_ID: credentials[0],
        CLIENT_SECRET: credentials[1],
        API_KEY: given('api key'),
        TOKEN,
        USERID: 'u-1001',
      }
      await writeFile(
        join(folder, 'users.ndjson'),
        '{"operation":"prefill","key":"k","body":{"userid":"u-1001"}}\n',
      )

      const listed = [...(await read('/llms.txt')).matchAll(/\/docs\/([\w/-]+)\.md/g)]
      const pages = listed.map(([, name = '']) => name).filter(name => !OTHERS.test(name))
      const texts = await Promise.all(pages.map(page => read(`/docs/${page}.md`)))
      const blocks = texts.flatMap(text =>
        [
          ...text
            .replaceAll(service.address, address)
            .matchAll(new RegExp(`^\`\`\`(?:${language})\\n([\\s\\S]*?)^\`\`\``, 'gm')),
        ].map(([, code = '']) => code),
      )
      expect(await run(blocks, { folder, env })).toBe('')
      expect(answered.length).toBeGreaterThan(40)
      expect(
        answered.filter(
          ({ status, code, lines = [] }) =>
            status >= 500 || status === 400 || code === 'bad_request' || lines.includes(400),
        ),
      ).toEqual([])
      const ofTheClock = answered.filter(({ path }) => path === '/sandbox/clock')
      expect(ofTheClock.map(({ status }) => status)).toContain(200)
      expect(new Set(ofTheClock.map(({ status }) => status))).toEqual(new Set([200]))
    })
})
