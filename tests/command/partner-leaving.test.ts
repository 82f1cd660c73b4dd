import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ada, demoCatalogue, startTestService } from '../rig.ts'
import { type Created, clientOf, codeOf } from './place.ts'
import { run, runJson, runRefused } from './process.ts'
import { commandsBeside } from './sandbox.ts'

test('a partner that leaves is exported, then deleted with everything that hung on it; others lose nothing', async () => {
  await using service = await startTestService({ clock: 'machine' })
  const sandbox = await commandsBeside(service, demoCatalogue)
  onTestFinished(sandbox.close)
  const { place, database } = sandbox
  const newPartner = (...words: string[]) => runJson<Created>(['partner', 'create', ...words], place)
  const leaving = await newPartner('--name', 'Leaving')
  const lawful = await newPartner('--name', 'Lawful', '--retain', '7y')
  const staying = await newPartner('--name', 'Staying')
  for (const partner of [leaving, lawful, staying]) {
    const client = clientOf(sandbox, partner)
    await client.createUser({ ...ada, userid: 'u-1', offername: 'plus', effectivedate: '' })
    await client.prefillUser({ userid: 'u-2', firstname: 'Adacanary' })
    await client.createWebhook({ url: `${sandbox.address}/hook`, username: 'hook', password: 'pass' })
    await client.createLinkToken({ userid: 'u-1', purpose: 'benefits' })
  }
  const file = join(place.cwd, 'leaving.jsonl')
  const reason = ['--reason', 'the contract ended']
  expect(await runJson(['partner', 'export', leaving.partnerid, file, ...reason], place)).toMatchObject({
    users: 2,
  })
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const exports = await database.query<{ result: string; sealed: boolean }>({
    name: '',
    text: `select result, sealed_reason is not null as sealed from audit_log
      where partner_id = $1 and action = 'partner export' order by at, result`,
    values: [leaving.partnerid],
  })
  expect(exports).toEqual([
    { result: 'begun', sealed: true },
    { result: 'done', sealed: true },
  ])
  const lines = (await readFile(file, 'utf8'))
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as object)
  expect(lines).toMatchObject([
    { partner: { partnername: 'Leaving' } },
    { user: { userid: 'u-1' }, documents: { profile: { firstname: ada.firstname } } },
    { user: { userid: 'u-2' }, documents: { prefill: { firstname: 'Adacanary' } } },
  ])
  expect(await runRefused(['partner', 'export', leaving.partnerid, file, ...reason], place)).toContain(
    'name one that does not exist',
  )

  const remover = ({ partnerid }: Created, name: string) => [
    'partner',
    'delete',
    partnerid,
    '--name',
    name,
    ...reason,
  ]
  expect(await runRefused(remover(leaving, 'Leaving'), place)).toContain('is not disabled')
  for (const { partnerid } of [leaving, lawful]) await runJson(['partner', 'disable', partnerid], place)
  expect(await runRefused(remover(leaving, 'Staying'), place)).toContain('not the name')
  expect(await runJson(remover(leaving, 'Leaving'), place)).toMatchObject({
    erased: 2,
    deleted: true,
    keptuntil: null,
  })
  const rowsOf = async (partnerId: string): Promise<string[]> => {
    const tables = await database.query<{ name: string }>({
      name: '',
      text: `select c.table_name as name from information_schema.columns c join information_schema.tables t using (table_name)
        where c.column_name = 'partner_id' and c.table_schema = 'public' and t.table_type = 'BASE TABLE' order by 1`,
      values: [],
    })
    const found: string[] = []
    for (const { name } of tables) {
      const text = `select 1 from "${name}" where partner_id = $1 limit 1`
      if ((await database.query({ name: '', text, values: [partnerId] })).length > 0) found.push(name)
    }
    return found
  }
  expect(await rowsOf(leaving.partnerid)).toEqual(['audit_log', 'erasures'])
  expect(await codeOf(clientOf(sandbox, leaving).getUser({ userid: 'u-1' }))).toBe('invalid_client')
  // Who did what there can still be read, by its id and among all.
  for (const words of [
    ['audit', 'export', leaving.partnerid.toUpperCase()],
    ['audit', 'export'],
  ]) {
    const lines = (await run(words, place)).stdout
      .split('\n')
      .filter(line => line.includes(leaving.partnerid))
    expect(lines.map(line => (JSON.parse(line) as { action: string }).action)).toEqual(
      expect.arrayContaining(['partner disable', 'partner delete']),
    )
  }

  // Records that the law requires stay readable until their time is over.
  expect(await runJson(remover(lawful, 'Lawful'), place)).toMatchObject({
    erased: 2,
    deleted: false,
    keptuntil: expect.stringMatching(/^20/),
  })
  expect(await rowsOf(lawful.partnerid)).toEqual(
    expect.arrayContaining(['partners', 'retained_records', 'users', 'history']),
  )
  expect(await rowsOf(lawful.partnerid)).not.toEqual(expect.arrayContaining(['data_keys']))
  const kept = await runJson<{ retained: object[] }>(
    ['user', 'retained', lawful.partnerid, 'u-1', ...reason],
    place,
  )
  expect(kept.retained).toMatchObject([{ kind: 'coverage' }])

  expect(await clientOf(sandbox, staying).getUser({ userid: 'u-1' })).toMatchObject({ status: 'active' })
})
