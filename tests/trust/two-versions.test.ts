import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { bin, root, type ServiceProcess } from '../command/process.ts'
import { type Balancer, pooledClients, startBalancer } from '../faults/balancer.ts'
import { type Bench, openBench } from '../faults/bench.ts'
import { ada, adaAsks } from '../rig.ts'

// A rehearsal of the next MINOR, made up: this service with one more column and table, statements that write and read the column,
// and a second format of envelope, which it reads, and which only the MINOR after it writes.

let bench: Bench | undefined
let balancer: Balancer | undefined
let folder: string
beforeEach(async () => {
  // Where Node.js finds the packages that this version needs.
  folder = await mkdtemp(join(root, 'node_modules/.versions-'))
})
afterEach(async () => {
  await balancer?.close()
  await bench?.close()
  balancer = undefined
  bench = undefined
  await rm(folder, { recursive: true, force: true })
})

/** A change of what was built: in this module of the service, one text becomes the other. */
type Change = { readonly module: string; readonly from: string; readonly to: string }

/** A version of the built service with changes, and migrations by their names; returns the program that Node starts. */
async function build(
  name: string,
  changes: readonly Change[],
  migrations: Readonly<Record<string, string>>,
): Promise<string> {
  const place = join(folder, name)
  for (const part of ['package.json', 'bin', 'dist', 'migrations', 'assets'])
    await cp(join(root, 'service', part), join(place, 'service', part), { recursive: true })
  for (const { module, from, to } of changes) {
    const file = join(place, 'service/dist', module)
    const parts = (await readFile(file, 'utf8')).split(from)
    if (parts.length !== 2) throw new Error(`${module} has this not once: ${from}`)
    await writeFile(file, parts.join(to))
  }
  for (const [file, text] of Object.entries(migrations))
    await writeFile(join(place, 'service/migrations', file), text)
  return join(place, 'service/bin/enrolment.js')
}

const nextMinor: readonly Change[] = [
  {
    module: 'membership/records/tables.js',
    from: "erasedAt: stored.instant('erased_at'),",
    to: "erasedAt: stored.instant('erased_at'), madeUp: together({ kind: { name: 'made_up', kind: 'text', absent: 'later' } }),",
  },
  { module: 'vault/seal.js', from: 'sealed[0] !== VERSION[0]', to: '![1, 2].includes(sealed[0])' },
]

const writesSecondFormat: Change = {
  module: 'vault/seal.js',
  from: '[...front, VERSION, nonce,',
  to: '[...front, Buffer.from([2]), nonce,',
}

/** Repeated when the machine was too slow for the time limits of statements, which production has too. */
const unlessTooSlow = { timeout: 900_000, retry: { count: 2, condition: /^Too slow/ } }

test(
  'the next MINOR is released under load by the documented steps, and taken back: nothing refused, all books agree',
  unlessTooSlow,
  async () => {
    const migrations = {
      '900_later.sql': [
        "alter table users add column made_up text default 'before';",
        'alter table users add constraint made_up_known check (length(made_up) < 10) not valid;',
        'alter table history add column made_up integer;',
        'create table made_up (partner_id uuid not null, one integer, primary key (partner_id));',
      ].join('\n'),
    }
    const next = await build('next', nextMinor, migrations)
    const afterNext = await build('after-next', [...nextMinor, writesSecondFormat], migrations)
    const on = await openBench()
    bench = on
    const running: ServiceProcess[] = []
    const start = async (process: number, program: string) => {
      running[process] = await on.start({ process, drainSeconds: 5, program })
    }
    /** Replaces the two processes one after the other, as docs/operating.md says. */
    const replace = async (program: string) => {
      for (const process of [0, 1]) {
        expect(await running[process]?.stop()).toBe(0)
        await start(process, program)
        await expect
          .poll(() => balancer?.sendsTo(on.ports[process] ?? 0), { timeout: 60_000, interval: 20 })
          .toBe(true)
        await on.more(10)
      }
    }
    const kindOf = async (userid: string) => {
      const [row] = await on.database.query<{ kind: string; version: number }>(
        sql`select made_up as kind, version from users where userid = ${userid}`,
      )
      return row
    }
    const [first, second] = on.ports.map(port => on.clientOf(port))
    const create = { ...ada, offername: 'starter' } as const
    await start(0, bin)
    await start(1, bin)
    balancer = await startBalancer(on.ports)
    const pool = pooledClients(on, { port: balancer.port, count: 6 })
    const journal = on.openJournal({ clients: pool.clients, writers: 6, name: 'versions', pauseMs: 300 })
    await on.more(10)
    await promisify(execFile)(process.execPath, [next, 'migrate'], {
      env: { PATH: process.env['PATH'], ...on.place.env },
    })
    await on.more(10)
    await replace(next)
    await on.more(10)
    await replace(bin)
    await journal.stop()
    await pool.close()
    on.checkNothingRefused()
    await on.check()

    // What one version writes survives a write of the other, which does not know it.
    await running[1]?.stop()
    await start(1, next)
    await second?.createUser({ userid: 'young', ...create })
    await first?.updateUser({ userid: 'young', phone: '3055550199' })
    expect(await kindOf('young')).toEqual({ kind: 'later', version: 2 })
    await running[0]?.stop()
    await start(0, afterNext)
    await first?.createUser({ userid: 'sealed anew', ...create })
    const [written] = await on.database.query(sql`
      select get_byte(sealed, 0) as format from sealed_records order by at desc limit 1`)
    expect(written).toEqual({ format: 2 })
    await second?.updateUser({ userid: 'sealed anew', phone: '3055550199' })
    expect(await second?.getUser({ userid: 'young' })).toMatchObject({ status: 'active' })
    expect(await first?.getBenefits({ userid: 'sealed anew', ...adaAsks })).not.toHaveLength(0)
  },
)
