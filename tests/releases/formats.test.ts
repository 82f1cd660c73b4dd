import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { listStatementLines, listUsers } from '../../contract/src/index.ts'
import { readManifest, writeManifest } from '../../embedded-postgres/src/backup.ts'
import { cursorAfter } from '../../service/src/accounts/list-handlers.ts'
import { hashOf, leafOf } from '../../service/src/audit/blocks.ts'
import { reservationOf } from '../../service/src/idempotency/key-reservation.ts'
import { openErasureList } from '../../service/src/membership/erasure-list/list.ts'
import { openInsurerAnswer, sealInsurerAnswer } from '../../service/src/membership/records/insurer-lines.ts'
import { openJson, sealJson } from '../../service/src/membership/records/sealed.ts'
import type { Partner } from '../../service/src/partners/partner.ts'
import { sessionOfSecretId, sessionSecretId } from '../../service/src/registration/session/session.ts'
import { csvOf } from '../../service/src/statements/csv-file.ts'
import { readPlace, writePlace } from '../../service/src/statements/pages.ts'
import { keyedHash } from '../../service/src/vault/hash.ts'
import { keyId, newKeyringFile, readKeyring, writeKeyring } from '../../service/src/vault/keyring-file.ts'
import { seal, unseal, unwrapKey, wrapKey } from '../../service/src/vault/seal.ts'
import { makeSecret, parseSecret } from '../../service/src/vault/secret.ts'
import { readCursor, writeCursor } from '../../service/src/webhooks/log/cursor.ts'

// One of each thing that is sealed, hashed or signed, as each release wrote it (docs/internals.md lists their formats).
// `node scripts/freeze.mjs` writes those of a release, once; whatever is changed here later must go on reading them.

const folder = new URL('./', import.meta.url)
const user = {
  partnerId: '019ad6f2-0000-7000-8000-000000000001',
  serviceId: '019ad6f2-0000-7000-8000-000000000002',
}
const session = { partner_id: user.partnerId, session_id: '019ad6f2-0000-7000-8000-000000000003' }
const at = Date.parse('2026-01-31T12:00:00.000Z')
const said = { userid: 'u-1001', text: 'José 🙂', amounts: [1, 2.5, null] }
const insurersAnswer = { code: 'OK', text: 'taken', memberId: 'M-1' }
const erasure = { ...user, erasedAt: new Date(at).toISOString() }
const manifest = {
  format: 1,
  postgresMajor: '18',
  startedAt: new Date(at).toISOString(),
  endedAt: new Date(at + 90_000).toISOString(),
  files: [{ path: 'postgres/PG_VERSION', size: 3, sha256: 'ab'.repeat(32) }],
} as const

/** Writes something as today's code does, and says what code of any version must read in it. */
type Format = {
  readonly write: (key: Buffer) => string | Promise<string>
  readonly read: (text: string, key: Buffer) => unknown
  readonly means: unknown
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64')
}

function bytes(text: string): Buffer {
  return Buffer.from(text, 'base64')
}

/** A value of which only its hash is stored: each version must come to the same one. */
function hashed(hash: (key: Buffer) => Buffer | string): Format {
  const write = (key: Buffer) => hash(key).toString('base64')
  return { write, read: (text, key) => text === write(key), means: true }
}

/** A secret: the text that its owner holds, and the hash that is stored of it. */
function secret(kind: 'lt' | 'rt', purpose: string): Format {
  return {
    write: key => {
      const { text } = makeSecret(kind, 'live', sessionSecretId(session))
      return `${text} ${base64(keyedHash(key, purpose, text))}`
    },
    read: (written, key) => {
      const [text = '', hash] = written.split(' ')
      const parsed = parseSecret(text)
      return [parsed && sessionOfSecretId(parsed.id), hash === base64(keyedHash(key, purpose, text))]
    },
    means: [session, true],
  }
}

const binding = { purpose: 'formats', ...user }
const block = { partner_id: user.partnerId, number: 2, from_at: at, until_at: at + 30_000 }
const row = { partner_id: user.partnerId, name: `${user.serviceId} 1`, service_id: user.serviceId }

const formats: Readonly<Record<string, Format>> = {
  envelope: {
    write: key => base64(seal(key, JSON.stringify(said), binding)),
    read: (text, key) => JSON.parse(unseal(key, bytes(text), binding).toString('utf8')),
    means: said,
  },
  'wrapped key': {
    write: key => base64(wrapKey({ id: keyId(key), key }, Buffer.alloc(32, 1), binding)),
    read: (text, key) => unwrapKey(id => (id === keyId(key) ? key : undefined), bytes(text), binding),
    means: Buffer.alloc(32, 1),
  },
  'key id': hashed(keyId),
  'stored answer': {
    write: key => base64(sealJson(key, said, 'idempotency_keys', user)),
    read: (text, key) => openJson(key, bytes(text), 'idempotency_keys', user),
    means: said,
  },
  'key and request of a stored answer': hashed(hashKey => {
    const operation = { id: 'createUser', method: 'POST' }
    const request = { operation, target: () => ({ path: '/user/create', query: '' }), sent: said }
    const made = reservationOf('key-1', request, { partner: { hashKey } as Partner, mode: 'keyed' })
    return Buffer.concat([made.keyHash, made.requestHash])
  }),
  'audit block': hashed(key => {
    const leaves = leafOf(key, 'history', { ...row, recorded_at: at, content: '[1, "page"]' })
    return hashOf(key, 'history', { ...block, leaves, previous: Buffer.alloc(32, 2) })
  }),
  'link token': secret('lt', 'link_token'),
  'result token': secret('rt', 'result_token'),
  cursor: {
    write: () => writeCursor({ position: 12, eventId: session.session_id }),
    read: readCursor,
    means: { position: 12, eventId: session.session_id },
  },
  'cursor of users': {
    write: () => cursorAfter({ users: [user], isLast: false }) ?? '',
    read: text => [isLetThrough(listUsers, text), text],
    means: [true, user.serviceId],
  },
  'cursor of statement lines': {
    write: () => writePlace({ serviceId: user.serviceId, place: 3 }),
    read: text => [isLetThrough(listStatementLines, text), readPlace(text)],
    means: [true, { serviceId: user.serviceId, place: 3 }],
  },
  'erasure list': {
    write: async () => {
      const file = fileOf('erasures', '')
      await (await openErasureList(file)).note(erasure)
      return readFileSync(file, 'utf8')
    },
    read: async text => (await openErasureList(fileOf('erasures', text))).entries(),
    means: [erasure],
  },
  'backup manifest': {
    write: async () => {
      const file = fileOf('manifest.json', '')
      await writeManifest(dirname(file), manifest)
      return readFileSync(file, 'utf8')
    },
    read: text => readManifest(dirname(fileOf('manifest.json', text))),
    means: manifest,
  },
  'feed line': {
    write: key => base64(sealJson(key, { action: 'add', line: '7' }, 'insurer_lines', user)),
    read: (text, key) => openJson(key, bytes(text), 'insurer_lines', user),
    means: { action: 'add', line: '7' },
  },
  'answer to a feed line': {
    write: key => base64(sealInsurerAnswer(key, user, insurersAnswer)),
    read: (text, key) => openInsurerAnswer(key, user, bytes(text)),
    means: insurersAnswer,
  },
  'statement line': {
    write: () => statementLine,
    // A later version may add columns at the end.
    read: async text => {
      const today = (await statementOf()).split('\r\n')
      return text.split('\r\n').every((row, nth) => today[nth]?.startsWith(row))
    },
    means: true,
  },
}

/** Whether the description of an operation accepts a cursor. */
function isLetThrough({ query }: typeof listUsers | typeof listStatementLines, cursor: string): boolean {
  const { after } = query.properties
  return 'pattern' in after && new RegExp(String(after.pattern)).test(cursor)
}

const statementLine = [
  'userid,serviceid,kind,name,offer,fromdate,todate,personcents,takenby,partnercents,about,moredetails,days\r\n',
  `u-1001,${user.serviceId},benefit,dental,plus,2026-01-01,2026-01-31,1250,partner,0,,"{""driver"":""7""}",31\r\n`,
].join('')

async function statementOf(): Promise<string> {
  const line = {
    kind: 'benefit',
    name: 'dental',
    offer: 'plus',
    personcents: 1250,
    takenby: 'partner',
  } as const
  const dates = { fromdate: '2026-01-01', todate: '2026-01-31', days: 31 } as const
  const more = { ...dates, partnercents: 0, insurercents: 900, insurer: 'seaview', about: '' }
  const shown = { serviceId: user.serviceId, place: 0, userid: 'u-1001', moredetails: { driver: '7' } }
  let text = ''
  const pages = (async function* () {
    yield [{ ...shown, line: { ...line, ...more } }]
  })()
  for await (const part of csvOf(pages, false)) text += part
  return text
}

function fileOf(name: string, text: string): string {
  const place = mkdtempSync(join(tmpdir(), 'enrolment-formats-'))
  onTestFinished(() => rmSync(place, { recursive: true }))
  writeFileSync(join(place, name), text)
  return join(place, name)
}

/** The keyring comes first, as its keys open the rest. */
async function writeAll(): Promise<Record<string, string>> {
  const keyring = writeKeyring(newKeyringFile())
  const key = keyOf(keyring)
  const all: Record<string, string> = { keyring }
  for (const [name, one] of Object.entries(formats)) all[name] = await one.write(key)
  return all
}

function keyOf(keyring = ''): Buffer {
  const { current, keys } = readKeyring(keyring, 'keyring.json').rootKeys
  const found = keys.find(({ id }) => id === current)
  if (!found) throw new Error('a keyring without its current key')
  return found.key
}

const { WRITE_RELEASE: written } = process.env
const releases = readdirSync(folder)
  .map(name => new URL(`${name}/formats.json`, folder))
  .filter(file => existsSync(file))

test.skipIf(written === undefined)('one of each format of a release is written', async () => {
  const file = new URL(`${written}/formats.json`, folder)
  writeFileSync(file, `${JSON.stringify(await writeAll(), null, 1)}\n`)
})

test('what each release sealed, hashed and signed is read today, as is what is written today', async () => {
  const kept = releases.map(file => JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>)
  for (const release of [await writeAll(), ...kept])
    for (const [name, text] of Object.entries(release).filter(([name]) => name !== 'keyring'))
      expect([name, await formats[name]?.read(text, keyOf(release['keyring']))]).toEqual([
        name,
        formats[name]?.means,
      ])
})
