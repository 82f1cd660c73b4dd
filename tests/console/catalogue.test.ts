// @databases stock

import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { noPartner } from '../../service/src/audit/entries.ts'
import { readVersion } from '../../service/src/catalogue/published.ts'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, demoCatalogue, demoCatalogueFile, startTestService } from '../rig.ts'
import { deedsOf, reasonedDeedsOf } from './deeds.ts'
import { type OperatorBrowser, type Shown, signIn } from './operator-browser.ts'

const soon = { timeout: 120_000, interval: 50 }
const changed = demoCatalogue.replaceAll('New York', 'New  York').replace('slots: 2', 'slots: 1')

const service = forAllTests(() => startTestService({ console: true }))
beforeAll(async () => {
  const partner = await service.newPartner({ name: 'Harbor Rides' })
  await partner.client.createUser({
    ...ada,
    userid: 'holder-canary',
    offername: 'starter',
    benefits: ['telehealth'],
  })
})
const admin = forAllTests(() => signIn(service, 'admin'))
const second = forAllTests(() => signIn(service, 'admin'))
const viewer = forAllTests(() => signIn(service, 'viewer'))

function accident(): Promise<Buffer> {
  return readFile(join(dirname(demoCatalogueFile), 'documents/accident-en.pdf'))
}

function upload(
  operator: OperatorBrowser,
  yaml: string,
  more: Parameters<OperatorBrowser['upload']>[1] = [],
): Promise<Shown> {
  return operator.upload('/catalogue/check', [
    { field: 'catalogue', name: 'next.yaml', content: yaml },
    ...more,
  ])
}

function fieldOf({ text }: Shown, name: string): string {
  return new RegExp(`name="${name}" value="([^"]+)"`).exec(text)?.[1] ?? ''
}

function draftOf(shown: Shown) {
  return { draft: fieldOf(shown, 'draft'), effect: fieldOf(shown, 'effect') }
}

async function newest(): Promise<{ version: number; by: string }> {
  const [row] = await service.database.query<{ version: number; by: string }>(sql`
    select version, published_by as by from catalogue_versions order by version desc limit 1`)
  return row ?? { version: 0, by: '' }
}

test('a form above 64 KiB is refused with a page that says so, and does nothing', async () => {
  const refused = await admin.post('/sign-out', { reason: 'x'.repeat(66_000) })
  expect(refused).toMatchObject({ status: 413, text: expect.stringContaining('Too large') })
  expect((await admin.get('/catalogue')).status).toBe(200)
})

test('versions are listed and shown to everybody, and only an admin for all partners may upload', async () => {
  const list = await viewer.get('/catalogue')
  expect(list.text).toContain('/catalogue/versions/1')
  expect(list.text).not.toContain('type="file"')
  expect((await viewer.get('/catalogue/versions/1')).text).toContain('Hospital cash')
  expect((await viewer.get('/catalogue/versions/7')).status).toBe(404)
  expect((await viewer.get('/catalogue/diff?from=1&to=x')).status).toBe(404)
  expect((await upload(viewer, changed)).status).toBe(403)
  const ofOne = await signIn(service, 'admin', [(await service.newPartner({ name: 'Other' })).partnerId])
  expect((await ofOne.get('/catalogue')).text).not.toContain('type="file"')
  expect((await upload(ofOne, changed)).status).toBe(403)
  expect(await deedsOf(service, ofOne)).toContainEqual(
    expect.objectContaining({ action: 'publish catalogue', result: 'refused' }),
  )
})

test('nobody without a session makes the console read a large body', async () => {
  const { consoleUrl = '' } = service.service()
  const body = new FormData()
  body.append('catalogue', new Blob([demoCatalogue]), 'next.yaml')
  const answer = await fetch(`${consoleUrl}/catalogue/check`, {
    method: 'POST',
    headers: { origin: consoleUrl },
    body,
  })
  expect(answer.status).toBe(401)
})

test('a file with problems is refused with each line, and a broken form with a sentence', async () => {
  const wrong = await upload(admin, demoCatalogue.replace('rank: 10', 'rank: ten'))
  expect(wrong.status).toBe(422)
  expect(wrong.text).toMatch(/<li>line \d+: offers\[0\]\.rank: /)
  expect((await admin.upload('/catalogue/check', [])).text).toContain('Choose the catalogue')
  const missing = await upload(
    admin,
    demoCatalogue.replaceAll('documents/accident-en.pdf', 'documents/new.pdf'),
  )
  expect(missing.text).toContain('did not come along')
  expect((await newest()).version).toBe(1)
})

test('what a draft changes and does is shown, and without a second person it is published at once', async () => {
  await service.database.query(sql`
    update installation set operator_policy = operator_policy || '{"publish": false}'::jsonb`)
  const file = { field: 'files', name: 'new.pdf', content: await accident() }
  const yaml = changed.replaceAll('documents/accident-en.pdf', 'documents/new.pdf')
  const draft = await upload(admin, yaml, [file])
  expect(draft.status).toBe(200)
  expect(draft.text).toMatch(/<code>starter<\/code><\/td><td>slots<\/td><td>2<\/td><td>1<\/td>/)
  expect((await newest()).version).toBe(1)
  const counted = async () => (await admin.post('/catalogue/draft', draftOf(draft))).text
  await expect.poll(counted, soon).toContain('1 users were looked at: 1 members, 0 applicants')
  expect(await counted()).not.toContain('canary')
  expect((await admin.post('/catalogue/publish', draftOf(draft))).status).toBe(422)
  const done = await admin.post('/catalogue/publish', { ...draftOf(draft), reason: 'one slot less' })
  expect(done.path).toBe('/catalogue/versions/2')
  expect((await newest()).version).toBe(2)
  const documents = (await readVersion(service.database, 2))?.benefits.get('accident')?.documents
  expect(documents?.[0]?.file).toMatch(/^[0-9a-f]{64}\/new\.pdf$/)
  expect((await viewer.get('/catalogue/diff?from=1&to=2')).text).toContain('slots')
  expect(await reasonedDeedsOf(service, admin)).toContain('publish catalogue')
  const audit = `/audit?partner=${noPartner}`
  expect((await admin.get(audit)).text).toContain('one slot less')
  expect((await viewer.get(audit)).text).not.toContain('one slot less')
  // The same file again changes nothing; the version that was looked at before no longer follows the newest.
  const again = await upload(admin, yaml)
  expect(again.text).toContain('They say the same')
  expect((await admin.post('/catalogue/publish', { ...draftOf(again), reason: 'again' })).status).toBe(409)
  expect((await admin.post('/catalogue/publish', { ...draftOf(draft), reason: 'again' })).status).toBe(409)
  await service.database.query(sql`update installation set operator_policy = '{}'::jsonb`)
})

test('what a draft changes is sorted by each heading, and a file, both from the form with the draft', async () => {
  const file = { field: 'files', name: 'accident-en.pdf', content: await accident() }
  const draft = await upload(admin, changed.replace('rank: 10', 'rank: 11'), [file])
  const { draft: sealed } = draftOf(draft)
  const names = (text: string) =>
    [...text.matchAll(/<td>(benefit|offer) <code>([\w-]+)<\/code>/g)].map(
      ([, kind, name]) => `${kind} ${name}`,
    )
  const unsorted = names(draft.text)
  expect(new Set(unsorted).size).toBeGreaterThan(1)
  const up = await admin.post('/catalogue/draft', { draft: sealed, sort: 'name' })
  expect(names(up.text)).toEqual(unsorted.toSorted())
  const down = await admin.post('/catalogue/draft', { draft: sealed, sort: '-name' })
  expect(names(down.text)[0]).toBe(unsorted.toSorted().at(-1))
  expect(down.text).toMatch(/<button form="draft" name="sort" value="before">Before</)
  expect(down.text).toMatch(/form="draft" formaction="\/catalogue\/draft\.csv"/)
  const saved = await admin.post('/catalogue/draft.csv', { draft: sealed, sort: '-name' })
  expect(saved.headers.get('content-disposition')).toContain('catalogue-draft-after-')
  const [head, ...lines] = saved.text.trimEnd().split('\r\n')
  expect(head).toBe('name,what,before,after')
  expect(lines.map(line => line.split(',')[0])).toEqual(names(down.text))
  expect(await deedsOf(service, admin)).toContainEqual(
    expect.objectContaining({ action: 'export catalogue' }),
  )
})

test('with a second person it is asked for, shown to the other, confirmed and then published', async () => {
  const { version } = await newest()
  // Version 2 has this document by another name.
  const file = { field: 'files', name: 'accident-en.pdf', content: await accident() }
  const draft = await upload(admin, demoCatalogue, [file])
  const asked = await admin.post('/catalogue/publish', { ...draftOf(draft), reason: 'back to two slots' })
  expect(asked.path).toMatch(/^\/requests\//)
  expect((await newest()).version).toBe(version)
  expect((await admin.post(`${asked.path}/confirm`, { reason: 'my own' })).status).toBe(403)
  expect((await second.get(asked.path)).text).toContain('back to two slots')
  const done = await second.post(`${asked.path}/confirm`, { reason: 'looked at it' })
  expect(done.path).toBe(`/catalogue/versions/${version + 1}`)
  expect((await newest()).by).toMatch(/^admin-\w+, confirmed by admin-\w+$/)
  expect(await reasonedDeedsOf(service, second)).toContain('confirm publish')
})

test('a request does nothing once another version was published', async () => {
  const draft = await upload(admin, changed)
  const asked = await admin.post('/catalogue/publish', { ...draftOf(draft), reason: 'fewer slots' })
  const version = await service.publish(demoCatalogue.replace('slots: 2', 'slots: 3'))
  expect((await second.get(asked.path)).text).toContain('something else now')
  expect((await second.post(`${asked.path}/confirm`, { reason: 'too late' })).status).toBe(409)
  expect((await newest()).version).toBe(version)
})

test('a request that contradicts a version published since says so, and can be withdrawn', async () => {
  const consentAs = (word: string) =>
    demoCatalogue.replace('version: 2026-01', 'version: 2099-01').replace('I ask for', `${word}, I ask for`)
  const draft = await upload(admin, consentAs('First'))
  const asked = await admin.post('/catalogue/publish', { ...draftOf(draft), reason: 'new terms' })
  await service.publish(consentAs('Second'))
  const page = await second.get(asked.path)
  expect([page.status, page.text.includes('the consent text of')]).toEqual([200, true])
  expect((await second.post(`${asked.path}/confirm`, { reason: 'too late' })).text).toContain(
    'Nothing was done',
  )
  await admin.get(asked.path)
  expect((await admin.post(`${asked.path}/withdraw`)).path).toBe('/requests')
})

test('another kind of form, and one that is too large, is refused with a page and no failure', async () => {
  expect((await admin.post('/catalogue/check')).status).toBe(415)
  const content = Buffer.alloc(33 * 2 ** 20)
  expect((await upload(admin, demoCatalogue, [{ field: 'files', name: 'big.pdf', content }])).status).toBe(
    413,
  )
  expect(service.logged.filter(({ event }) => event === 'failure')).toEqual([])
})

test('a draft that somebody has altered is none', async () => {
  const { draft, effect } = draftOf(await upload(admin, changed))
  const altered = Buffer.from(draft, 'base64')
  altered[altered.length - 1] = (altered.at(-1) ?? 0) ^ 1
  const sent = { draft: altered.toString('base64'), effect, reason: 'mine' }
  expect((await admin.post('/catalogue/publish', sent)).status).toBe(422)
})
