import { expect, test } from 'vitest'
import { walkThrough } from './walk-through.ts'

const shown = {
  baseUrl: 'http://127.0.0.1:8080',
  demo: {
    partnerid: 'p',
    clientid: 'c',
    clientsecret: 's',
    apikey: 'k',
    webhook: { username: 'u', password: 'w' },
  },
  inbox: 'http://127.0.0.1:8081/demo/inbox',
  site: 'http://localhost:8081/demo',
  consoleLink: undefined,
} as unknown as Omit<Parameters<typeof walkThrough>[0], 'isProxied'>

test('where a proxy is set, the lines first exempt this machine from it; no line hides why curl failed', () => {
  const [plain, proxied] = [false, true].map(isProxied => walkThrough({ ...shown, isProxied }).split('\n'))
  const told = /# 1\. a token\nexport no_proxy="127\.0\.0\.1,\$no_proxy"\nAPI_KEY=/
  expect(proxied?.join('\n')).toMatch(told)
  expect(plain?.join('\n')).not.toContain('no_proxy')
  const curls = plain?.filter(line => line.includes('curl ')) ?? []
  expect(curls.length).toBeGreaterThan(6)
  expect(curls.filter(line => !line.includes('curl -sS '))).toEqual([])
})
