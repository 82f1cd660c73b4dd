import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { describe, expect, test } from 'vitest'
import { HOSTILE_HOSTS, HOSTILE_IPS, HOSTILE_TEXTS } from '../../../../tests/egress/hostile-addresses.ts'
import { everydayOr } from '../../../../tests/long.ts'
import { OperatorError } from '../../operator-error.ts'
import { checkWebhookUrl, isPublicAddress, mayReach, parseAllowList } from './address.ts'

const live = { sandbox: false, allow: [] }
const sandbox = { sandbox: true, allow: [] }
function inLiteral(ip: string) {
  return ip.includes(':') ? `[${ip}]` : ip
}

describe('no address that is not public can be saved', () => {
  test('the table holds more than 200 forms', () => {
    expect(new Set([...HOSTILE_IPS, ...HOSTILE_HOSTS, ...HOSTILE_TEXTS]).size).toBeGreaterThan(200)
  })
  test.each(HOSTILE_IPS)('%s', ip => {
    expect(isPublicAddress(ip)).toBe(false)
    expect(checkWebhookUrl(`https://${inLiteral(ip)}/hook`, live)).toEqual({
      ok: false,
      reason: 'The host of the address is not public.',
    })
  })
  test.each(HOSTILE_HOSTS)('%s', host => {
    expect(checkWebhookUrl(`https://${host}/hook`, live)).toMatchObject({ ok: false })
    expect(checkWebhookUrl(`https://${host}:8443`, live)).toMatchObject({ ok: false })
    expect(isPublicAddress(host)).toBe(false)
  })
  test.each(['consul', 'corp', 'home', 'test', 'arpa', 'in-addr.arpa'])('a name below .%s', ending => {
    expect(checkWebhookUrl(`https://receiver.${ending}/`, live).ok).toBe(false)
  })
  test.each(HOSTILE_TEXTS)('%j', text => {
    const checked = checkWebhookUrl(text, live)
    expect(checked).toMatchObject({ ok: false, reason: expect.stringMatching(/^The .*\.$/) })
  })
})

test('public addresses and names over https can be saved', () => {
  for (const text of [
    'https://example.com',
    'https://hooks.example.com:8443/a/b?c=d&e=%20f',
    'HTTPS://Example.COM/',
    'https://8.8.8.8/',
    'https://[2606:4700:4700::1111]/hook',
    'https://[2a00:1450:4001:80b::200e]:444/',
    'https://xn--bcher-kva.example/',
    'https://a_b.example.com/',
    'https://100.63.255.255/',
    'https://172.32.0.1/',
    'https://192.0.1.1/',
    'https://198.20.0.1/',
    'https://223.255.255.255/',
    'https://[2001:200::1]/',
    'https://[2003::1]/',
    'https://[3ffe:ffff::1]/',
  ])
    expect(checkWebhookUrl(text, live), text).toMatchObject({ ok: true })
})

test('a saved address is normal: the host in lower case, its path as sent', () => {
  const checked = checkWebhookUrl('HTTPS://Example.COM:443/Hook?x', live)
  expect(checked.ok && checked.url.href).toBe('https://example.com/Hook?x')
})

test('an address of 2,048 characters is taken, one of 2,049 is not', () => {
  const long = `https://example.com/${'a'.repeat(2028)}`
  expect(checkWebhookUrl(long, live).ok).toBe(true)
  expect(checkWebhookUrl(`${long}a`, live).ok).toBe(false)
})

describe('a sandbox', () => {
  test.each([
    'http://127.0.0.1:9000/hook',
    'http://[::1]:9000/',
    'http://localhost:9000/',
    'http://a.localhost/',
    'https://localhost/',
    'http://example.com/',
  ])('takes %s', text => {
    expect(checkWebhookUrl(text, sandbox).ok).toBe(true)
  })
  test.each([
    'http://10.0.0.1/',
    'http://169.254.169.254/',
    'https://[fd00::1]/',
    'http://0.0.0.0/',
    'http://[::ffff:127.0.0.1]/',
    'http://user@localhost/',
    'http://receiver:80/',
    'http://receiver.internal/',
  ])('still refuses %s', text => {
    expect(checkWebhookUrl(text, sandbox).ok).toBe(false)
  })
})

describe("the operator's ranges", () => {
  const rules = { sandbox: false, allow: parseAllowList('10.0.0.0/8, fd00::/8,192.168.1.7') }
  test.each([
    'http://10.1.2.3:8080/',
    'https://10.1.2.3/',
    'http://[fd00::7]/',
    'http://192.168.1.7/',
    'http://0xa010203/',
  ])('take %s', text => {
    expect(checkWebhookUrl(text, rules).ok).toBe(true)
  })
  test.each([
    'http://192.168.1.8/',
    'http://11.0.0.1/',
    'http://127.0.0.1/',
    'http://[fc00::7]/',
    'http://localhost/',
  ])('leave out %s', text => {
    expect(checkWebhookUrl(text, rules).ok).toBe(false)
  })
  test('let names of their network be saved, which no public name server knows', () => {
    expect(checkWebhookUrl('http://receiver.default.svc/', rules).ok).toBe(true)
    expect(checkWebhookUrl('http://receiver/', rules).ok).toBe(false)
  })
  test('let a name use plain http, which at delivery reaches only their addresses', () => {
    expect(checkWebhookUrl('http://hooks.example.com/', rules).ok).toBe(true)
    expect(mayReach('10.1.2.3', 'http:', rules)).toBe(true)
    expect(mayReach('8.8.8.8', 'http:', rules)).toBe(false)
    expect(mayReach('8.8.8.8', 'https:', rules)).toBe(true)
  })
})

test.each([
  '10.0.0.0/33',
  '10.0.0.1/8',
  '10.0.0.0/',
  '10.0.0.0/08',
  '10.0.0.0/-1',
  '10.0.0.0/8/8',
  '0.0.0.0/0',
  '::/0',
  'fd00::/129',
  'fe80::1%eth0',
  '10.0.0/8',
  '0x7f.1/32',
  'example.com',
  '10.0.0.0/8;11.0.0.0/8',
])('the allow list %s stops the start and is named', text => {
  expect(() => parseAllowList(`192.168.0.0/16,${text}`)).toThrow(OperatorError)
  expect(() => parseAllowList(`192.168.0.0/16,${text}`)).toThrow(`ENROLMENT_WEBHOOK_ALLOW: "${text}"`)
})

test('a public address of this machine is reached only where the operator allows it', () => {
  const own = new Set(['8.8.8.8', '2606:4700::1'])
  for (const ip of own) {
    expect(mayReach(ip, 'https:', live)).toBe(true)
    expect(mayReach(ip, 'https:', { ...live, own })).toBe(false)
    expect(mayReach(ip, 'https:', { ...sandbox, own })).toBe(false)
    expect(mayReach(ip, 'https:', { sandbox: false, allow: parseAllowList(ip), own })).toBe(true)
  }
  expect(mayReach('127.0.0.1', 'http:', { ...sandbox, own: new Set(['127.0.0.1']) })).toBe(true)
})

test('an empty allow list allows nothing more', () => {
  expect(parseAllowList('')).toEqual([])
  expect(parseAllowList(' , ')).toEqual([])
})

/** Multicast, and the addresses that IANA's registries of special addresses call not globally reachable. */
const SPECIAL_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]
const SPECIAL_V6 = [
  '::/8',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '5f00::/16',
  '4000::/3',
  '6000::/3',
  '8000::/1',
]

test('no address of a special range is public, wherever in the range it lies', () => {
  const range = fc.constantFrom(...SPECIAL_V4, ...SPECIAL_V6).map(text => ipaddr.parseCIDR(text))
  const bytes = fc.uint8Array({ minLength: 16, maxLength: 16 })
  fc.assert(
    fc.property(range, bytes, ([network, bits], noise) => {
      const inside = network.toByteArray().map((byte, index) => {
        const free = 0xff >> Math.min(8, Math.max(0, bits - index * 8))
        return byte | ((noise[index] ?? 0) & free)
      })
      const ip = ipaddr.fromByteArray(inside)
      expect(isPublicAddress(ip.toString())).toBe(false)
      expect(isPublicAddress(ip.toNormalizedString())).toBe(false)
    }),
    { numRuns: 2000 },
  )
})

test('whatever text is saved has a host that is a public literal or a full name', () => {
  const host = fc.oneof(
    fc.ipV4(),
    fc.ipV4Extended(),
    fc.ipV6().map(inLiteral),
    fc.domain(),
    fc.webAuthority(),
  )
  fc.assert(
    fc.property(host, fc.webPath(), (authority, path) => {
      const checked = checkWebhookUrl(`https://${authority}${path}`, live)
      if (!checked.ok) return
      const { hostname } = checked.url
      const isName = /^([a-z0-9_-]+\.)+[a-z][a-z0-9-]*$/.test(hostname)
      expect(isName || isPublicAddress(hostname.replace(/^\[|\]$/g, ''))).toBe(true)
    }),
    { numRuns: everydayOr(400, 2000) },
  )
})
