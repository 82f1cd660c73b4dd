import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

// Each table belongs to one folder of service/src. Other folders that read or write it are listed with a reason, so
// that an engineer who changes a table knows which statements to check. A folder that writes may also read. A new table
// gets a line here. A new statement in another folder gets an entry, or moves to the owner.
type Access = `reads: ${string}` | `writes: ${string}`
type Table = { readonly owner: string; readonly others: Readonly<Record<string, Access>> }

// The rooms of the command executor: what it reads, and what it saves.
const executor = 'membership/commands'
const log = 'webhooks/log'
const delivery = 'webhooks/delivery'
const endpoint = 'webhooks/endpoint'

const screens = { console: 'reads: a screen of the operators shows it' } as const
const records = 'membership/records'
const exports = { 'membership/export': 'reads: an export of one person contains it' } as const
const erased = 'writes: an erasure deletes them'
const answers = 'reads: what an endpoint answered is sealed with the key of its user'
const inOrder = 'writes: whoever adds to a log raises its head in the same transaction'

const owners: Readonly<Record<string, Table>> = {
  installation: ownedBy('installation.ts', {
    audit: 'reads: blocks of entries without a partner are signed by the key there',
    console: 'writes: what needs a second person stands there',
    operators: 'writes: where the console is reached stands there',
    'quiet.ts': 'writes: a restored copy is marked until it may act on the world',
    partners: 'reads: locking its one row makes a change of keys wait for new partners, and the reverse',
  }),
  catalogue_versions: ownedBy('catalogue'),
  files: ownedBy('files'),

  partners: ownedBy('partners', {
    console: 'writes: the reason that an operator gives for disabling a partner is stored with it',
    [executor]: 'reads: a decision uses the business time of the partner as it is now',
    registration: 'reads: sessions are counted and cleaned up partner by partner',
    [log]: 'reads: the clean-up goes from partner to partner',
    db: 'writes: it finds the cell of a partner, and moves a partner to another',
  }),
  credentials: ownedBy('partners'),
  credential_uses: ownedBy('partners', screens),
  access_tokens: ownedBy('partners'),

  users: ownedBy(executor, {
    ...screens,
    cli: 'reads: an export, and the deletion of a partner, go from user to user',
    'membership/erasure-list': 'reads: an erasure is repeated for users of a restored copy',
    feeds: 'reads: a run looks for users whom no run has seen as they are',
    schedule: 'reads: it looks for users with due changes, and for what expires with them',
    statements: 'reads: a month is counted user by user',
    [log]: 'reads: the deliveries of one user are listed',
  }),
  data_keys: ownedBy(executor, {
    ...screens,
    [records]: 'reads: what is sealed for a user is opened with the key of that user',
    feeds: 'reads: a line is opened with the key of its person, who is not erased while a run is stored',
    [delivery]: answers,
    [log]: answers,
  }),
  documents: ownedBy(executor, {
    console: 'reads: operators find a person by the hashes of an email or a phone number',
    schedule: 'writes: old drafts are deleted',
  }),
  enrolments: ownedBy(executor, {
    ...screens,
    statements: 'reads: a month is counted from what was held in it',
  }),
  held_periods: ownedBy(executor, { statements: 'reads: a month is counted from what was held in it' }),
  corrected_pasts: ownedBy(executor, {
    statements: 'writes: a correction that a final month has taken up is forgotten',
  }),
  statements: ownedBy('statements'),
  statement_lines: ownedBy('statements'),
  consents: ownedBy(records, { [executor]: erased }),
  beneficiary_designations: ownedBy(records, { [executor]: erased }),
  confirmations: ownedBy(records, { ...screens, [executor]: erased }),
  history: ownedBy(executor, {
    ...screens,
    ...exports,
    audit: 'reads: its rows are signed in blocks',
    [log]: 'reads: it names the events of a user, for an erasure and for support',
  }),
  idempotency_keys: ownedBy('idempotency', {
    [executor]: 'writes: a key is reserved in the transaction of the change that it protects',
    schedule: 'writes: expired keys are deleted',
  }),

  erasures: ownedBy('membership/erasure-list', {
    ...screens,
    cli: 'reads: a check of the audit leaves out what an erasure took away',
    [executor]: 'writes: an erasure is recorded in its own transaction',
    schedule: 'writes: the remains of keys are removed from files, and that is noted',
    [log]: 'writes: the events of an erased user are removed, and that is noted',
  }),
  retained_records: ownedBy(records, {
    cli: 'reads: a partner is not deleted while the law keeps records of it',
  }),

  event_log_heads: ownedBy(log, {
    db: 'writes: readiness is a write of its own, of no partner',
    partners: 'writes: a new partner gets an empty log',
    [executor]: inOrder,
    'webhooks/api': inOrder,
  }),
  events: ownedBy(log, {
    ...screens,
    ...exports,
    [executor]: 'writes: an event is stored in the transaction of the change that raised it',
    'webhooks/api': 'writes: a test event is raised',
    [delivery]: 'reads: it sends the stored bytes',
  }),
  webhook_endpoints: ownedBy(endpoint, {
    ...screens,
    [executor]: 'reads: a new event is queued for the endpoints that subscribe to it',
    [delivery]:
      'writes: an endpoint that keeps failing, or is gone, is disabled with the result that decided it',
    [log]: 'reads: replays and lists go by endpoints',
  }),
  endpoint_health: ownedBy(endpoint, {
    ...screens,
    [delivery]: 'writes: each result changes the health, in the transaction that stores it',
  }),
  endpoint_leases: ownedBy(delivery),
  dispatchers: ownedBy(delivery, screens),
  deliveries: ownedBy(delivery, {
    ...screens,
    [executor]: 'writes: deliveries are queued in the transaction that raises their event',
    'webhooks/api': 'writes: a test event is queued',
    [endpoint]:
      'writes: what was attempted in an outage becomes due when it ends; the list of endpoints counts what waits',
    [log]: 'writes: replays queue deliveries, and the clean-up removes them',
  }),
  dead_deliveries: ownedBy(delivery, {
    ...screens,
    [endpoint]: 'reads: the list of endpoints counts what is dead',
    [log]: 'writes: replays and the clean-up remove and add dead deliveries',
  }),
  delivery_attempts: ownedBy(log, { ...screens, [delivery]: 'writes: an attempt is stored with its result' }),
  delivery_attempts_rest: ownedBy(log),

  page_sessions: ownedBy('registration', {
    ...screens,
    ...exports,
    [executor]: 'writes: an erasure ends the sessions of its user',
  }),

  audit_log: ownedBy('audit', screens),
  audit_blocks: ownedBy('audit', screens),

  operators: ownedBy('operators', screens),
  operator_links: ownedBy('operators'),
  operator_sessions: ownedBy('operators'),
  operator_requests: ownedBy('console', {
    [executor]: 'writes: an erasure closes what was asked about its user',
  }),
  refused_creates: ownedBy(executor),

  insurer_lines: ownedBy(records, {
    [executor]: 'writes: an erasure deletes them, and fails if they have changed since it was decided',
    feeds: 'writes: the answers of insurers are noted on their lines',
  }),
  insurer_farewells: ownedBy(records, {
    feeds: 'writes: the farewells of a dropped run wait again',
  }),
  feed_versions: ownedBy('feeds'),
  feeds: ownedBy('feeds'),
  feed_runs: ownedBy('feeds'),
  feed_differences: ownedBy('feeds'),
  feed_seen: ownedBy('feeds', { [executor]: erased }),
}

function ownedBy(owner: string, others: Readonly<Record<string, Access>> = {}): Table {
  return { owner, others }
}

const root = fileURLToPath(new URL('..', import.meta.url))
function read(file: string) {
  return readFileSync(`${root}/${file}`, 'utf8')
}
const tracked = execFileSync('git', ['ls-files', 'service'], { cwd: root, encoding: 'utf8' }).split('\n')

const created = tracked
  .filter(file => /^service\/migrations\/.*\.sql$/.test(file))
  .flatMap(file =>
    [...read(file).matchAll(/^create table (?:if not exists )?(\w+)/gm)].map(([, name = '']) => name),
  )

/**
 * The folder of a file as the list names it: slices as a whole, and the subfolders of the two large ones separately.
 */
function folderOf(file: string): string {
  const path = file.slice('service/src/'.length)
  if (!path.includes('/')) return path
  if (/^membership\/(reading|saving)\//.test(path)) return executor
  return /^(webhooks|membership)\//.test(path)
    ? dirname(path).split('/').slice(0, 2).join('/')
    : (path.split('/')[0] ?? '')
}

type Found = { readonly table: string; readonly folder: string; readonly use: 'reads' | 'writes' }

/**
 * The tables that the statements of a file use, and how. Statements that name their table at run time are not found.
 */
function foundIn(file: string): Found[] {
  const code = read(file)
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|\s)\/\/.*$/gm, '')
  const folder = folderOf(file)
  const statements = code.matchAll(/\b(delete from|insert into|update|partition of|from|join|using)\s+(\w+)/g)
  return [...statements].flatMap(([, verb = '', table = '']) =>
    created.includes(table)
      ? [{ table, folder, use: /^(from|join|using)$/.test(verb) ? 'reads' : 'writes' }]
      : [],
  )
}

const found = tracked
  .filter(file => /^service\/src\/.*\.ts$/.test(file) && !file.endsWith('.test.ts'))
  .flatMap(foundIn)

test('every table has an owner, which has statements on it', () => {
  expect(Object.keys(owners).sort()).toEqual([...created].sort())
  const used = new Set(found.map(({ table }) => table))
  expect(created.filter(table => !used.has(table))).toEqual([])
  const ownerless = Object.entries(owners).filter(
    ([table, { owner }]) =>
      used.has(table) && !found.some(one => one.table === table && one.folder === owner),
  )
  expect(ownerless).toEqual([])
})

test('a folder reads and writes only the tables that are its own or listed for it', () => {
  const isAllowed = ({ table, folder, use }: Found) => {
    const { owner, others } = owners[table] ?? ownedBy('')
    const given = others[folder] ?? ''
    if (folder === owner || given.startsWith('writes: ')) return true
    return use === 'reads' && given !== ''
  }
  const strays = found
    .filter(one => !isAllowed(one))
    .map(({ table, folder, use }) => `${folder} ${use} ${table}`)
  expect([...new Set(strays)].sort()).toEqual([])
})

test('what is listed for a folder is what its statements do', () => {
  const idle = Object.entries(owners).flatMap(([table, { others }]) =>
    Object.entries(others)
      .filter(([folder, access]) => {
        const uses = found.filter(one => one.table === table && one.folder === folder).map(({ use }) => use)
        return !uses.includes(access.startsWith('writes: ') ? 'writes' : 'reads')
      })
      .map(([folder, access]) => `${folder} ${access.split(':')[0]} ${table} no more`),
  )
  expect(idle).toEqual([])
})
