import { beforeEach, describe, expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { changePartner } from '../../service/src/partners/administer.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ana, type Rig, startRig } from './rig.ts'
import { newVisitor, openLink, recordsAgreed, type Visitor } from './visitor.ts'

const rig = forAllTests(startRig)
beforeEach(() => rig.newPerson().then(() => undefined))

function open(more: Parameters<Rig['mintLink']>[0] = {}): Promise<Visitor> {
  return openLink(rig, more)
}
function client() {
  return rig.partner.client
}

describe('the button that enrols', () => {
  test('pressed twice at once by a member enrols once, and both presses lead to the confirmation', async () => {
    for (let round = 0; round < 12; round++) {
      await rig.newPerson('unknown')
      await client().createUser({ userid: rig.userid(), ...ana, offername: 'starter', benefits: ['dental'] })
      const visitor = await open({ offername: '' })
      await visitor.get('/register/benefits')
      await visitor.post('/register/benefits', { benefit: 'vision' })
      const press = () => visitor.post('/register/enrol', recordsAgreed)
      const answers = await Promise.all([press(), press()])
      expect(answers.map(({ status, view }) => `${status} ${view}`)).toEqual(['200 DONE', '200 DONE'])
    }
  })

  test('answers each of many presses at once with the same confirmation, and enrols once', async () => {
    for (let people = 0; people < 8; people += 1) {
      await rig.newPerson()
      const visitor = await open()
      await visitor.get('/register/benefits')
      const check = await visitor.post('/register/benefits', { benefit: ['dental'] })
      const draft = /name="draft" value="([^"]+)"/.exec(check.html)?.[1] ?? ''
      const presses = await Promise.all(
        Array.from({ length: 20 }, () => visitor.post('/register/enrol', { draft, ...recordsAgreed })),
      )
      expect(new Set(presses.map(({ status, view }) => `${status} ${view}`))).toEqual(new Set(['200 DONE']))
      expect(new Set(presses.map(({ html }) => /BE-\w{4}-\w{4}/.exec(html)?.[0])).size).toBe(1)
      expect((await rig.events()).filter(name => name === 'enrollment_successful')).toHaveLength(1)
    }
  })
})

test('an enrolment that no plan allows is noted for the operator, without anything of the person', async () => {
  const { database } = rig.running
  await rig.newPerson({ dob: '2020-05-05' })
  const visitor = await open()
  expect((await visitor.post('/register/enrol', recordsAgreed)).view).toBe('NO_BENEFITS')
  const notes = () =>
    database.query<{ code: string; reasons: unknown }>(sql`
      select code, reasons from refused_creates where partner_id = ${rig.partner.partnerId}`)
  await expect.poll(notes).toEqual([{ code: 'ineligible', reasons: [] }])
})

describe('what was answered', () => {
  test('is kept sealed, and deleted when the person enrols', async () => {
    const visitor = await open()
    await visitor.get('/register/details/name')
    await visitor.post('/register/details/name', { firstname: 'Evacanary', lastname: 'Ruiz' })
    const documents = () =>
      rig.running.database.query<{ kind: string; sealed: Buffer }>(sql`
        select d.kind, d.sealed from sealed_records d join users u using (partner_id, service_id)
        where u.partner_id = ${rig.partner.partnerId} and u.userid = ${rig.userid()}
          and d.kind <> 'confirmation' order by d.kind`)
    const kept = await documents()
    expect(kept.map(({ kind }) => kind)).toEqual(['draft', 'prefill'])
    expect(kept.some(({ sealed }) => sealed.toString('latin1').includes('Evacanary'))).toBe(false)
    await visitor.get('/register/benefits')
    await visitor.post('/register/benefits')
    expect((await visitor.post('/register/enrol', recordsAgreed)).view).toBe('DONE')
    expect((await documents()).map(({ kind }) => kind)).toEqual(['profile'])
  })
})

test('every view shows where the partner’s users find help, in their language; without contacts it names the partner', async () => {
  const helpIn = (html: string) => /<section class="help".*?<\/section>/s.exec(html)?.[0] ?? ''
  const views = async (locale: 'en' | 'es') => {
    const link = await rig.mintLink({ locale })
    const visitor = newVisitor(rig.service)
    return [await visitor.get(link), await visitor.post(link), await visitor.get('/register/benefits')]
  }
  expect(helpIn((await views('en'))[0]?.html ?? '')).toContain(
    'Contact Harbor Rides through its app or website',
  )
  const { partnerId } = rig.partner
  const help = { phone: '1-800-555-0142', email: 'help@harbor.example', url: 'https://harbor.example/help' }
  await changePartner(partnerId, { help }, rig.running.manage)
  // The service's memory of a partner may be a second old.
  rig.running.advance(1000)
  for (const [locale, words] of [
    ['en', ['Need help?', 'Call 1-800-555-0142', 'Email help@harbor.example', 'Help center']],
    ['es', ['¿Necesita ayuda?', '1-800-555-0142', 'help@harbor.example', 'Centro de ayuda']],
  ] as const) {
    const shown = await views(locale)
    expect(new Set(shown.map(({ view }) => view)).size).toBe(3)
    for (const { html } of shown) {
      for (const word of words) expect(helpIn(html)).toContain(word)
      for (const address of ['tel:18005550142', 'mailto:help@harbor.example', 'https://harbor.example/help'])
        expect(helpIn(html)).toContain(`href="${address}"`)
    }
  }
  await changePartner(partnerId, { help: { phone: '', email: '', url: '' } }, rig.running.manage)
})
