import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { changePartner } from '../../service/src/partners/administer.ts'
import { demoRound } from '../feeds/demo-round.ts'
import { forAllTests } from '../for-all-tests.ts'
import { describeInBrowser, launchBrowser } from './browser.ts'
import { startRig } from './rig.ts'
import { newVisitor, openLink, recordsAgreed, type Shown, type Visitor } from './visitor.ts'

const rig = forAllTests(() => startRig({ startAt: Date.parse('2027-03-10T15:00:00Z') }))

/** A newcomer who has enrolled in Plus with these picks, and the confirmation that they see. */
async function enrolled(picks: readonly string[]): Promise<{ visitor: Visitor; done: Shown }> {
  await rig.newPerson()
  const visitor = await openLink(rig, { offername: 'plus' })
  await visitor.get('/register/benefits')
  await visitor.post('/register/benefits', { benefit: picks })
  const done = await visitor.post('/register/enrol', { ...recordsAgreed, 'consent.identity': '2026-01' })
  expect(done.view).toBe('DONE')
  return { visitor, done }
}
function copyIn({ html }: Shown) {
  return /href="(\/register\/copy\/BE-\w{4}-\w{4})"/.exec(html)?.[1] ?? ''
}
function stored() {
  return rig.running.database.query<{ reference: string; sealed: Buffer }>(sql`
    select c.name as reference, c.sealed from sealed_records c join users u using (partner_id, service_id)
    where c.kind = 'confirmation' and u.partner_id = ${rig.partner.partnerId} and u.userid = ${rig.userid()}`)
}
function textOf(html: string) {
  return html.replace(/<style>[\s\S]*?<\/style>|<[^>]+>/g, ' ').replace(/\s+/g, ' ')
}

describe('the copy for the person', () => {
  test('holds all that was agreed, as one file that needs nothing else', async () => {
    const { visitor, done } = await enrolled(['critical', 'identity'])
    const answer = await visitor.send(copyIn(done))
    expect(answer.status).toBe(200)
    const reference = copyIn(done).slice(-12)
    expect(answer.headers.get('content-disposition')).toBe(
      `attachment; filename="benefits-${reference}.html"`,
    )
    expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'.*; sandbox;/)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const html = await answer.text()
    expect(html).not.toMatch(/<script|<link|src=|url\((?!"data:)/)
    const text = textOf(html)
    const [, hash = ''] = /SHA-256 ([0-9a-f]{64})/.exec(text) ?? []
    expect(html).toContain(`href="${rig.service}/files/${hash}/`)
  })

  test('is kept sealed, one for an enrolment however often the button was pressed', async () => {
    const { visitor, done } = await enrolled(['dental'])
    await visitor.post('/register/enrol', recordsAgreed)
    const rows = await stored()
    expect(rows.map(({ reference }) => reference)).toEqual([copyIn(done).slice(-12)])
    expect(rows[0]?.sealed.toString('latin1')).not.toMatch(/Ruiz|Harbor|Dental/)
  })

  test('stays as it was whatever changes later, and is there by any later link', async () => {
    const { visitor, done } = await enrolled(['dental'])
    const before = await (await visitor.send(copyIn(done))).text()
    await changePartner(rig.partner.partnerId, { help: { phone: '1-800-555-0199' } }, rig.running.manage)
    await rig.partner.client.updateUser({ userid: rig.userid(), firstname: 'Eva' })
    rig.running.advance(2000)
    const later = await openLink(rig, { purpose: 'benefits', offername: '' })
    const overview = await later.get('/register/overview')
    expect(copyIn(overview)).toBe(copyIn(done))
    expect(await (await later.send(copyIn(overview))).text()).toBe(before)
    await changePartner(rig.partner.partnerId, { help: { phone: '' } }, rig.running.manage)
  })

  test('stays what was agreed to, byte for byte; the page shows the member number that an insurer gave since', async () => {
    const { visitor, done } = await enrolled(['dental'])
    const copy = async () => (await visitor.send(copyIn(done))).text()
    const before = await copy()
    await demoRound(rig.running, () => undefined)
    expect(await copy()).toBe(before)
    expect(textOf((await visitor.get('/register/overview')).html)).toMatch(/Member number SE-\d{5}/)
  })

  test('of another person is not found, nor is one without a session', async () => {
    const { done } = await enrolled(['dental'])
    await rig.newPerson()
    const other = await openLink(rig)
    expect((await other.get(copyIn(done))).status).toBe(404)
    expect((await newVisitor(rig.service).get(copyIn(done))).status).toBe(401)
  })

  test('is shown by email only after the birth date, and is gone after an erasure', async () => {
    const { done } = await enrolled(['dental'])
    const asked = await openLink(rig, { delivery: 'email', purpose: 'benefits', offername: '' })
    expect((await asked.get(copyIn(done))).view).toBe('CHALLENGE')
    await rig.partner.client.eraseUser({ userid: rig.userid() })
    expect(await stored()).toEqual([])
  })

  test('wears the partner’s look', async () => {
    const { visitor, done } = await enrolled(['dental'])
    const look = { colors: '{"light":{"accent":"#5b21b6"}}' }
    await changePartner(rig.partner.partnerId, { look }, rig.running.manage)
    rig.running.advance(2000)
    expect(await (await visitor.send(copyIn(done))).text()).toContain('--accent:#5b21b6')
    await changePartner(rig.partner.partnerId, { look: { colors: '' } }, rig.running.manage)
  })
})

describeInBrowser('the copy', () => {
  const browser = forAllTests(launchBrowser)

  test.each(['hosted', 'frame'] as const)('is saved from the %s page', async shell => {
    await rig.newPerson()
    const page = await browser.newPage()
    if (shell === 'hosted') await page.goto(await rig.mintLink())
    else {
      await page.goto(rig.host)
      await page.evaluate(`tokens.push(${JSON.stringify(await rig.mintToken())}); make({})`)
      await page.getByRole('button', { name: 'My benefits' }).click()
    }
    const place = shell === 'hosted' ? page : page.frameLocator('iframe')
    const press = (name: string) => place.getByRole('button', { name, exact: true }).click()
    if (shell === 'hosted') await press('Open my benefits')
    await press('These are right – continue')
    await place.getByLabel('Choose Dental discount').check()
    await press('Continue')
    await place.getByLabel('I agree to receive documents electronically').check()
    await press('Enroll now')
    const saved = page.waitForEvent('download')
    await place.getByRole('link', { name: 'Save a copy of what you agreed to' }).click()
    const download = await saved
    expect(download.suggestedFilename()).toMatch(/^benefits-BE-\w{4}-\w{4}\.html$/)
    expect(await readFile(await download.path(), 'utf8')).toContain('Ana María Ruiz Delgado')
    await page.close()
  })

  test('is dark on white on paper, as every page is, also where the look is dark', async () => {
    const look = (scheme: string) =>
      changePartner(rig.partner.partnerId, { look: { scheme } }, rig.running.manage)
    await look('dark')
    rig.running.advance(2000)
    const { visitor, done } = await enrolled(['critical', 'identity'])
    const copy = await (await visitor.send(copyIn(done))).text()
    const link = await rig.mintLink()
    const shows = [(page: Page) => page.goto(link), (page: Page) => page.setContent(copy)]
    for (const show of shows) {
      const page = await browser.newPage()
      const colors = () =>
        page.evaluate<readonly string[]>(`[getComputedStyle(document.querySelector('h1')).color,
          getComputedStyle(document.documentElement).getPropertyValue('--surface')]`)
      await show(page)
      expect((await colors())[1]).toBe('#182020')
      await page.emulateMedia({ media: 'print' })
      expect(await colors()).toEqual(['rgb(0, 0, 0)', '#fff'])
      await page.close()
    }
    await look('auto')
  })
})
