import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { beforeAll, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { sql } from '../../service/src/db/sql.ts'
import { columns, insuredCatalogue } from '../feeds/stage.ts'
import { forAllTests } from '../for-all-tests.ts'
import { fileOf, lifeCatalogue, type TestCatalogue } from '../life/catalogue.ts'
import { familyTiers } from '../life/family-catalogue.ts'
import { wholeRunTest } from '../long.ts'
import { ada, startTestService } from '../rig.ts'
import { run, runJson } from './process.ts'
import { commandsBeside, type SandboxPartner } from './sandbox.ts'

// Only catches a hang: each test runs many processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

let partner: SandboxPartner
let file = ''

const withoutBooks: TestCatalogue = {
  benefits: lifeCatalogue.benefits.filter(({ name }) => name !== 'books'),
  offers: lifeCatalogue.offers.map(offer => ({
    ...offer,
    selectable: offer.selectable.filter(name => name !== 'books'),
  })),
}

async function write(name: string, catalogue: TestCatalogue): Promise<string> {
  const path = join(sandbox.place.cwd, name)
  await writeFile(path, fileOf(catalogue).replaceAll('dental', 'teeth'))
  return path
}

const service = forAllTests(() => startTestService({ clock: 'machine' }))
const sandbox = forAllTests(() => commandsBeside(service))
beforeAll(async () => {
  partner = await sandbox.newPartner()
  await partner.client.createUser({ ...ada, userid: 'holder', offername: 'low', benefits: ['books'] })
  await partner.client.prefillUser({ ...ada, userid: 'applicant' })
  file = await write('next.yaml', withoutBooks)
})

test('what publishing would do is counted on the users, as text and as JSON, and publishes nothing', async () => {
  type Counted = {
    version: number
    follows: number
    users: number
    closed: { name: string; keep: number }[]
    partners: {
      partnerid: string
      users: number
      members: number
      benefits: { name: string; seeless: number }[]
    }[]
  }
  const counted = await runJson<Counted>(['catalogue', 'impact', file], sandbox.place)
  expect(counted).toMatchObject({ follows: 2, version: 3, closed: [{ name: 'books', keep: 1 }] })
  const own = counted.partners.find(one => one.partnerid === partner.partnerid)
  expect(own).toMatchObject({ users: 2, members: 1, applicants: 1, applicantsless: 1, offerineligible: 0 })
  expect(own?.benefits.find(one => one.name === 'books')).toMatchObject({ keep: 1, seeless: 1, calledoff: 0 })
  const { stdout } = await run(['catalogue', 'impact', file], sandbox.place)
  expect(stdout).toMatch(/^Version 3 would follow version 2\. \d+ users of \d+ partners were looked at/)
  expect(stdout).toContain('Closed to newcomers, kept by holders: books (1).')
  expect(stdout).toContain('benefit books: 1 keep it, 1 no longer see it')
  const { versions } = await runJson<{ versions: { version: number; by: string }[] }>(
    ['catalogue', 'list'],
    sandbox.place,
  )
  expect(versions.map(one => one.version)).toEqual([2, 1])
})

test('a document that was only checked, in a catalogue that nobody published, is not among the public files', async () => {
  const pdf = Buffer.from('%PDF-1.7\nnot yet published')
  const { cwd } = sandbox.place
  await mkdir(join(cwd, 'documents'))
  await writeFile(join(cwd, 'documents/draft.pdf'), pdf)
  const catalogue = JSON.parse(await readFile(file, 'utf8')) as { benefits: object[] }
  const document = { title: { en: 'Draft', es: 'Borrador' }, language: 'en', file: 'documents/draft.pdf' }
  Object.assign(catalogue.benefits[0] ?? {}, { documents: [document] })
  const draft = join(cwd, 'draft.yaml')
  await writeFile(draft, JSON.stringify(catalogue))
  for (const command of ['check', 'impact']) await runJson(['catalogue', command, draft], sandbox.place)
  const hash = createHash('sha256').update(pdf).digest()
  expect(await sandbox.database.query(sql`select from files where hash = ${hash}`)).toEqual([])
})

wholeRunTest('what cannot be counted is refused with a sentence', async () => {
  expect(await sandbox.refusal('catalogue', 'impact', join(sandbox.place.cwd, 'none.yaml'))).toMatch(
    /cannot be read \(ENOENT\)/,
  )
  const broken = join(sandbox.place.cwd, 'broken.yaml')
  await writeFile(broken, 'schema: 2\n')
  const { code, stderr } = await run(['catalogue', 'impact', broken], sandbox.place)
  expect(code).toBe(1)
  expect(stderr).toMatch(/^\d+ problems in the catalogue:\nline 1: benefits is missing/)
})

test('a catalogue whose families a published feed cannot tell is refused, with the line of the benefit', async () => {
  const writeTo = async (name: string, text: string) => {
    const path = join(sandbox.place.cwd, name)
    await writeFile(path, text)
    return path
  }
  const kin = (more: object) =>
    insuredCatalogue({
      benefits: [{ name: 'kin', ...more }],
      offers: [{ offer: 'kinplan', rank: 90, fixed: ['kin'], selectable: [], slots: 0 }],
    })
  const feed = (...more: object[]) =>
    JSON.stringify({
      schema: 1,
      feeds: [
        { feed: 'kin', insurer: 'seaview', benefits: ['kin'], format: 'csv', columns: [...columns, ...more] },
      ],
    })
  const families = await writeTo(
    'families.json',
    kin({ covers: { spouse: {} }, tiers: familyTiers.slice(0, 2), premium: { cents: 1, per: 'month' } }),
  )
  await runJson(['catalogue', 'publish', await writeTo('single.json', kin({}))], sandbox.place)
  await runJson(['feed', 'publish', await writeTo('feeds.json', feed())], sandbox.place)
  for (const command of ['check', 'impact', 'publish']) {
    const { code, stderr } = await run(['catalogue', command, families], sandbox.place)
    expect([command, code]).toEqual([command, 1])
    expect(stderr).toMatch(
      /^1 problem in the catalogue:\nline 1: .*kin covers families, and the feed kin does not say whom a line is about/,
    )
  }
  const who = feed({ name: 'WHO', value: 'who' })
  await runJson(['feed', 'publish', await writeTo('feeds.json', who)], sandbox.place)
  expect(await runJson(['catalogue', 'check', families], sandbox.place)).toMatchObject({ ok: true })
})

test('the schema for editors accepts the demo catalogue and knows a misspelt key', async () => {
  const { stdout } = await run(['catalogue', 'schema'], sandbox.place)
  const isRight = new Ajv({ strict: false, formats: { date: true } }).compile(JSON.parse(stdout))
  const demo = await readFile(new URL('../../service/assets/demo-catalogue.yaml', import.meta.url), 'utf8')
  expect(isRight(parse(demo))).toBe(true)
  expect(isRight(parse(demo.replace('sortorder:', 'sortOrder:')))).toBe(false)
})
