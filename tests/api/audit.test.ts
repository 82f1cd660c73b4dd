// @prism

import { expect, test, vi } from 'vitest'
import { openBlockKeys } from '../../service/src/audit/block-keys.ts'
import { blocksOf, type Finding, verifyPartner } from '../../service/src/audit/blocks.ts'
import { type AuditRow, listEntries, noPartner } from '../../service/src/audit/entries.ts'
import { verifyHeads } from '../../service/src/audit/heads.ts'
import { signBlocks } from '../../service/src/audit/sign-blocks.ts'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService } from '../rig.ts'

const service = forAllTests(startTestService)
const partner = forAllTests(() => service.newPartner())

function entriesOf(partnerId: string): Promise<AuditRow[]> {
  return listEntries(service.database, { partnerId, from: 0, until: service.now() + 86_400_000 })
}

/** Noted acts are written within about a second. */
function written(partnerId: string, fits: (row: AuditRow) => boolean): Promise<AuditRow> {
  return vi.waitFor(
    async () => {
      const found = (await entriesOf(partnerId)).find(fits)
      if (!found) throw new Error('not written yet')
      return found
    },
    { timeout: 120_000 },
  )
}

function sealAll(): Promise<number> {
  return signBlocks(
    service.database,
    openBlockKeys(service.database, service.keyring),
    service.now() + 3_600_000,
  )
}

function verify(partnerId: string) {
  return verifyPartner(service.database, openBlockKeys(service.database, service.keyring), partnerId)
}

function faults(findings: readonly Finding[]) {
  return findings.map(({ source, fault }) => `${source} ${fault}`)
}

test('who fetched whom is on record: credential, user, request and network, and nothing of the person', async () => {
  const { serviceid } = await partner.client.createUser({ ...ada, userid: 'read-1', offername: 'plus' })
  let requestId = ''
  const reader = partner.connect({
    onResponse: response => {
      requestId = response.requestId ?? requestId
    },
  })
  await reader.getUser({ userid: 'read-1' })
  const entry = await written(partner.partnerId, row => row.action === 'getUser')
  const [credential] = await service.database.query<{ credential_id: string }>(sql`
    select credential_id from credentials where partner_id = ${partner.partnerId} and kind = 'client_secret'`)
  expect(entry).toMatchObject({
    actor_kind: 'credential',
    actor: credential?.credential_id,
    service_id: serviceid,
    request_id: requestId,
    result: 'shown',
    times: 1,
  })
  expect(entry.source).toHaveLength(16)
  expect(JSON.stringify(entry)).not.toMatch(/canary|127\.0\.0/i)
})

test('refused authentications are one entry for each credential, network and minute, counted', async () => {
  const other = await service.newPartner()
  const token = await other.token()
  await service.database.query(sql`
    update access_tokens set revoked_at = issued_at where partner_id = ${other.partnerId}`)
  service.advance(2000)
  for (let number = 0; number < 3; number += 1) {
    const answer = await fetch(`${service.baseUrl}/user/benefits`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    })
    expect(answer.status).toBe(401)
    await answer.text()
  }
  const refused = await vi.waitFor(
    async () => {
      const rows = (await entriesOf(other.partnerId)).filter(row => row.result === 'refused')
      expect(rows.reduce((sum, row) => sum + row.times, 0)).toBe(3)
      return rows
    },
    { timeout: 120_000 },
  )
  // A minute may have ended between two of them.
  expect(refused.length).toBeLessThanOrEqual(2)
  expect(token).toContain(refused[0]?.actor)
  await fetch(`${service.baseUrl}/user/benefits`, { method: 'POST' })
  const nobody = await written(noPartner, row => row.result === 'refused')
  expect(nobody).toMatchObject({ actor_kind: 'nobody', actor: '' })
})

test('who read whom a member names is on record', async () => {
  const own = await service.newPartner()
  const { serviceid } = await own.client.createUser({ ...ada, userid: 'named', offername: 'plus' })
  await own.client.getBeneficiaries({ userid: 'named' })
  expect(await written(own.partnerId, row => row.action === 'getBeneficiaries')).toMatchObject({
    actor_kind: 'credential',
    service_id: serviceid,
    result: 'shown',
  })
})

test('a removed, altered or added row no longer fits the signed blocks, nor does an altered block', async () => {
  const own = await service.newPartner()
  for (const userid of ['a', 'b', 'c']) await own.client.prefillUser({ userid, firstname: 'Adacanary' })
  await own.client.getUser({ userid: 'a' })
  await written(own.partnerId, row => row.action === 'getUser')
  expect(await sealAll()).toBeGreaterThan(0)
  expect(await verify(own.partnerId)).toMatchObject({ findings: [] })
  expect((await verify(own.partnerId)).rows).toBeGreaterThanOrEqual(4)

  const { database } = service
  const inVain = async (change: () => Promise<unknown>, undo: () => Promise<unknown>) => {
    await change()
    const { findings } = await verify(own.partnerId)
    await undo()
    expect((await verify(own.partnerId)).findings).toEqual([])
    return faults(findings)
  }
  const rename = (from: string, to: string) =>
    database.query(sql`update history set who = ${to} where partner_id = ${own.partnerId} and who = ${from}`)
  expect(
    new Set(
      await inVain(
        () => rename('partner', 'schedule'),
        () => rename('schedule', 'partner'),
      ),
    ),
  ).toEqual(new Set(['history altered']))
  const point = (from: string, to: string) =>
    database.query(sql`
      update history set event_ids = array_replace(event_ids, ${from}, ${to}) where partner_id = ${own.partnerId}`)
  const [raised] = (await own.client.listEvents({ userid: 'b' })).events
  const other = '00000000-0000-7000-8000-000000000001'
  expect(
    await inVain(
      () => point(raised?.eventid ?? '', other),
      () => point(other, raised?.eventid ?? ''),
    ),
  ).toEqual(['history altered'])
  const move = async (from: string, to: string) => {
    const [row] = await database.query<{ moved: string }>(sql`
      select (to_jsonb(audit_log) || jsonb_build_object('partner_id', ${to}::uuid))::text as moved
      from audit_log where partner_id = ${from} and action = 'getUser'`)
    // Citus refuses to update the column by which rows are spread.
    await database.query(sql`delete from audit_log where partner_id = ${from} and action = 'getUser'`)
    await database.query(sql`
      insert into audit_log select moved.* from jsonb_populate_record(null::audit_log, ${row?.moved}::jsonb) moved`)
  }
  const elsewhere = '00000000-0000-0000-0000-000000000001'
  expect(
    await inVain(
      () => move(own.partnerId, elsewhere),
      () => move(elsewhere, own.partnerId),
    ),
  ).toEqual(['audit_log removed'])
  const [block] = await database.query<{ from: string; earlier: string }>(sql`
    select from_at::text as from, (from_at - interval '1 second')::text as earlier from audit_blocks
    where partner_id = ${own.partnerId} and source = 'history' and number = 1`)
  const begin = (at: string | undefined) =>
    database.query(sql`
      update audit_blocks set from_at = ${at}::timestamptz
      where partner_id = ${own.partnerId} and source = 'history' and number = 1`)
  expect(
    await inVain(
      () => begin(block?.earlier),
      () => begin(block?.from),
    ),
  ).toEqual(['history block altered'])
  await database.query(sql`
    insert into audit_log (partner_id, entry_id, at, actor_kind, actor, action, result)
    select partner_id, gen_random_uuid(), at, actor_kind, actor, action, result from audit_log
    where partner_id = ${own.partnerId} and action = 'getUser'`)
  expect(faults((await verify(own.partnerId)).findings)).toEqual(['audit_log added'])
})

test('of an erased user, what the erasure clears is not compared, but who read the user is', async () => {
  await using live = await startTestService()
  const { database, keyring } = live
  const { client, partnerId } = await live.newPartner()
  await client.prefillUser({ userid: 'gone' })
  await client.getUser({ userid: 'gone' })
  const untilTomorrow = { partnerId, from: 0, until: live.now() + 86_400_000 }
  await vi.waitFor(async () => expect(await listEntries(database, untilTomorrow)).toHaveLength(1), {
    timeout: 120_000,
  })
  await client.eraseUser({ userid: 'gone' })
  const keys = openBlockKeys(database, keyring)
  await signBlocks(database, keys, live.now() + 3_600_000)
  const found = async () => faults((await verifyPartner(database, keys, partnerId)).findings)
  expect(await found()).toEqual([])
  await database.query(sql`update history set lines = '[]' where partner_id = ${partnerId}`)
  expect(await found()).toEqual([])
  await database.query(sql`update audit_log set actor = 'somebody else' where partner_id = ${partnerId}`)
  expect(await found()).toEqual(['audit_log altered'])
})

test('a block that was signed anew, or removed with all before it, is not what was kept elsewhere', async () => {
  await using live = await startTestService()
  const { database } = live
  const own = await live.newPartner()
  const { partnerId } = own
  const keys = openBlockKeys(database, live.keyring)
  const seal = () => signBlocks(database, keys, live.now() + 3_600_000)
  const compared = () => verifyPartner(database, keys, partnerId)
  await own.client.prefillUser({ userid: 'a' })
  await seal()
  const heads = (await blocksOf(database, 'history', partnerId)).map(block => ({
    partnerId,
    source: 'history' as const,
    number: block.number,
    until: block.until_at,
    hash: block.hash.toString('hex'),
  }))
  expect(heads.length).toBe(1)
  expect(await verifyHeads(database, heads, 0)).toEqual([])
  // Whoever has the keys rewrites history, and signs it as the service does.
  await database.query(sql`update history set who = 'operator' where partner_id = ${partnerId}`)
  const [signed] = await blocksOf(database, 'history', partnerId)
  await database.query(sql`delete from audit_blocks where source = 'history'`)
  await seal()
  expect((await compared()).findings).toEqual([])
  const forged = await blocksOf(database, 'history', partnerId)
  expect(forged.map(({ number }) => number)).toEqual([1])
  expect(forged[0]?.hash.equals(signed?.hash ?? Buffer.alloc(0))).toBe(false)
  expect(faults(await verifyHeads(database, heads, 0))).toEqual(['history block altered'])

  // Only the next block is left. That the one before it is missing shows without any key.
  live.advance(7_200_000)
  await own.client.prefillUser({ userid: 'b' })
  await seal()
  await database.query(sql`
    delete from audit_blocks where partner_id = ${partnerId} and source = 'history' and number = 1`)
  await database.query(sql`
    delete from history h using users u
    where h.partner_id = ${partnerId} and u.partner_id = h.partner_id and u.service_id = h.service_id and u.userid = 'a'`)
  expect(faults((await compared()).findings)).toContain('history block missing')
  expect(faults(await verifyHeads(database, heads, live.now()))).toEqual(['history block missing'])
  // Old blocks of the audit log are deleted in time, which is no finding.
  const old = heads.map(head => ({ ...head, source: 'audit_log' as const, number: 1000 }))
  expect(await verifyHeads(database, old, live.now() + 86_400_000)).toEqual([])
  expect(faults(await verifyHeads(database, old, 0))).toEqual(['audit_log block missing'])
})
