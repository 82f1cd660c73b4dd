import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { groupsOf, rightsOf } from './provider-groups.ts'
import { readProviderSettings } from './provider-settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'enrolment-sign-in-'))
afterAll(() => rmSync(folder, { recursive: true }))

function read(yaml: string) {
  writeFileSync(join(folder, 'sign-in.yaml'), yaml)
  return readProviderSettings(join(folder, 'sign-in.yaml'))
}
const one = '019abc12-3456-7890-abcd-ef0123456789'
const least = `issuer: https://login.example.com/staff
clientid: benefits-console
groups: [{ group: benefits-team, role: support }]
`

test('the least that a file says, and all that it may say', () => {
  expect(read(least)).toEqual({
    issuer: 'https://login.example.com/staff',
    clientId: 'benefits-console',
    clientSecret: undefined,
    clientAuth: 'basic',
    name: 'login.example.com',
    scope: 'openid profile email',
    claim: 'groups',
    groups: [{ group: 'benefits-team', role: 'support', partners: undefined }],
  })
  writeFileSync(join(folder, 'secret'), 'correct horse\n')
  const whole = read(`issuer: https://login.example.com/staff
clientid: benefits-console
secretfile: secret
clientauth: post
name: Harbor ID
scopes: [openid, email, groups]
claim: https://example.com/groups
groups:
  - group: CN=Team, OU=Benefits
    role: viewer
    partners: [${one.toUpperCase()}]
`)
  expect(whole).toMatchObject({
    clientSecret: 'correct horse',
    clientAuth: 'post',
    name: 'Harbor ID',
    scope: 'openid email groups',
    claim: 'https://example.com/groups',
    groups: [{ group: 'CN=Team, OU=Benefits', role: 'viewer', partners: [one] }],
  })
})

test('what is wrong is refused with a sentence that names it', () => {
  const wrong: readonly (readonly [yaml: string, says: string])[] = [
    ['- a list', 'must name issuer, clientid and groups'],
    ['{', 'cannot be read (MISSING_CHAR)'],
    [`${least}secret: x\n`, 'has secret, which is none of'],
    [least.replace('https://', 'http://'), 'needs issuer as an https address'],
    [least.replace('login', 'me:pw@login'), 'needs issuer as an https address'],
    [least.replace('clientid: benefits-console\n', ''), 'needs clientid'],
    [least.replace('support', 'boss'), 'needs role viewer, support, admin, developer for benefits-team'],
    [least.replace('support }', 'support, partners: [x] }'), 'needs partners of benefits-team'],
    [least.replace('support }', 'support, partners: [] }'), 'needs partners of benefits-team'],
    [least.replace('support }', 'support, partner: x }'), 'has partner in a group'],
    [least.replace('benefits-team', '42'), 'in quotes where it is a number'],
    [least.replace(/groups: .*/, 'groups: []'), 'needs groups'],
    [`${least}scopes: [profile]\n`, 'needs scopes as a list with openid in it'],
    [`${least}clientauth: none\n`, 'needs clientauth basic or post'],
    [
      `${least}secretfile: missing\n`,
      'secretfile in the file of ENROLMENT_CONSOLE_SIGN_IN cannot be read (ENOENT)',
    ],
  ]
  for (const [yaml, says] of wrong) expect(() => read(yaml), yaml).toThrow(says)
  expect(() => readProviderSettings(join(folder, 'nowhere'))).toThrow('cannot be read (ENOENT)')
  for (const host of ['localhost', '127.0.0.1', '[::1]'])
    expect(read(least.replace('https://login.example.com', `http://${host}:9000`)).issuer).toContain(host)
})

test('the highest role counts, with the partners of the groups that give it', () => {
  const two = one.replace('019', '01a')
  const mapped = [
    { group: 'look', role: 'viewer', partners: undefined },
    { group: 'team-one', role: 'support', partners: [one] },
    { group: 'team-two', role: 'support', partners: [two, one] },
    { group: 'team', role: 'support', partners: undefined },
  ] as const
  expect(rightsOf(mapped, ['choir'])).toBeUndefined()
  expect(rightsOf(mapped, ['look', 'choir'])).toEqual({ role: 'viewer', partners: undefined })
  expect(rightsOf(mapped, ['look', 'team-one'])).toEqual({ role: 'support', partners: [one] })
  expect(rightsOf(mapped, ['team-two', 'team-one'])).toEqual({ role: 'support', partners: [one, two] })
  expect(rightsOf(mapped, ['team-one', 'team'])).toEqual({ role: 'support', partners: undefined })
  const engineers = [one, two].map(id => ({ group: id, role: 'developer' as const, partners: [id] }))
  expect(rightsOf(engineers, [two, one])).toEqual({ role: 'developer', partners: [one] })
  expect(rightsOf([...engineers, ...mapped], [one, 'look'])).toEqual({ role: 'viewer', partners: undefined })
})

test('groups are a list of texts, or one text', () => {
  expect(groupsOf(['a', 1, null, 'b'])).toEqual(['a', 'b'])
  expect(groupsOf('a')).toEqual(['a'])
  for (const claim of [undefined, null, 1, { a: true }]) expect(groupsOf(claim)).toBeUndefined()
})
