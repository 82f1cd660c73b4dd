import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Prefill } from '../../client/src/index.ts'
import { sql } from '../../service/src/db/sql.ts'
import { changePartner } from '../../service/src/partners/administer.ts'
import { forAllTests } from '../for-all-tests.ts'
import { demoCatalogue } from '../rig.ts'
import { ana, type Rig, startRig } from './rig.ts'
import { newVisitor, openLink, recordsAgreed, type Visitor, wordsOf } from './visitor.ts'

const rig = forAllTests(startRig)
beforeEach(() => rig.newPerson().then(() => undefined))

function open(more: Parameters<Rig['mintLink']>[0] = {}): Promise<Visitor> {
  return openLink(rig, more)
}
function client() {
  return rig.partner.client
}

describe('the button that enrols', () => {
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
  test('is never said to be shared by the partner, and whoever comes back is told once that it was kept', async () => {
    const visitor = await open()
    const shared = wordsOf(await visitor.get('/register/details'))
    expect(shared).toContain('Harbor Rides shared these with us.')
    expect(shared).not.toContain('We kept your answers')
    await visitor.get('/register/details/name')
    await visitor.post('/register/details/name', { firstname: 'Eva', lastname: 'Ruiz' })
    expect(wordsOf(await visitor.get('/register/details'))).toContain(
      'Some of this is what Harbor Rides shared with us, and some is what you answered.',
    )
    const again = newVisitor(rig.service)
    const first = wordsOf(await again.post(await rig.mintLink()))
    expect(first).toContain('We kept your answers from last time.')
    expect(first).not.toContain('shared these with us')
    expect(wordsOf(await again.get('/register/details'))).not.toContain('We kept your answers')
  })

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

  test('is refused at the field and in the summary, in the person’s language, with what was typed', async () => {
    const visitor = await open({ locale: 'es' })
    await visitor.get('/register/details/address')
    const { status, html } = await visitor.post('/register/details/address', {
      addline1: '<script>alert(1)</script>',
      city: 'Miami',
      state: '',
      zipcode: '33',
    })
    expect(status).toBe(422)
    expect(html).toContain('<title>Error: ')
    expect(html.split('El código postal debe tener 5 o 9 dígitos, como 33101')).toHaveLength(3)
    expect(html).toContain('value="&lt;script&gt;alert(1)&lt;/script&gt;"')
    expect(html).not.toContain('<script>alert')
  })

  test('survives what the partner sends meanwhile: shown as a suggestion, never written over', async () => {
    const visitor = await open()
    await visitor.get('/register/details/contact')
    await visitor.post('/register/details/contact', { email: 'mine@example.com', phone: '' })
    await client().prefillUser({ userid: rig.userid(), ...ana, email: 'newer@example.com' })
    const review = await visitor.get('/register/details')
    expect(review.html).toContain('mine@example.com')
    expect(review.html).toContain('Harbor Rides sent a newer value')
    expect((await visitor.get('/register/details/contact')).html).toContain('newer@example.com')
  })

  test('is all that the last button confirms: newer details of the partner are shown before anybody enrols', async () => {
    const visitor = await open()
    await visitor.get('/register/benefits')
    const check = await visitor.post('/register/benefits', { benefit: ['dental'] })
    expect(check.html).toContain('ana.ruiz@example.com')
    const draft = /name="draft" value="([^"]+)"/.exec(check.html)?.[1] ?? ''
    await client().prefillUser({ userid: rig.userid(), ...ana, email: 'newer@example.com' })
    const again = await visitor.post('/register/enrol', { draft, ...recordsAgreed })
    expect(again).toMatchObject({ status: 409, view: 'CHECK_ANSWERS' })
    expect(again.html).toContain('newer@example.com')
    expect(await rig.events()).not.toContain('enrollment_successful')
    // The same data once more changes nothing that was shown.
    await client().prefillUser({ userid: rig.userid(), ...ana, email: 'newer@example.com' })
    expect((await visitor.post('/register/enrol', recordsAgreed)).view).toBe('DONE')
  })

  test('is confirmed with the benefits that were shown: after a new catalogue the person looks once more', async () => {
    const visitor = await open()
    await visitor.get('/register/benefits')
    expect((await visitor.post('/register/benefits', { benefit: ['dental'] })).view).toBe('CHECK_ANSWERS')
    await rig.running.publish(demoCatalogue.replace('Dental discount', 'Dental rebate'))
    onTestFinished(async () => {
      await rig.running.publish(demoCatalogue)
      rig.running.advance(1000)
    })
    // A process looks for a newer catalogue each second.
    rig.running.advance(1000)
    const again = await visitor.post('/register/enrol', recordsAgreed)
    expect(again).toMatchObject({ status: 409, view: 'CHECK_ANSWERS' })
    expect(again.html).toContain('Dental rebate')
    expect((await visitor.post('/register/enrol', recordsAgreed)).view).toBe('DONE')
  })

  test('is confirmed only as it was shown, at the review of the details too', async () => {
    const visitor = await open()
    await visitor.get('/register/details')
    await client().prefillUser({ userid: rig.userid(), ...ana, firstname: 'Anita' })
    const again = await visitor.post('/register/details')
    expect(again).toMatchObject({ status: 409, view: 'DETAILS_REVIEW' })
    expect(again.html).toContain('Anita')
    expect((await visitor.post('/register/details')).status).toBe(200)
  })

  test('of a member is corrected at once, and the partner’s newer data is only suggested', async () => {
    const moredetails = { team: 'north' }
    await client().createUser({ userid: rig.userid(), offername: 'starter', moredetails })
    await client().prefillUser({ userid: rig.userid(), ...ana, email: 'newer@example.com' })
    const visitor = await open()
    expect(wordsOf(await visitor.get('/register'))).toContain(
      'Harbor Rides sent newer details for: Email and phone. You can use them under “Check your details” below.',
    )
    const edit = await visitor.get('/register/details/contact')
    expect(edit.html).toContain('newer@example.com')
    expect(edit.html).toContain('value="ana.ruiz@example.com"')
    await visitor.post('/register/details/contact', { email: 'mine@example.com', phone: '' })
    const after = await visitor.get('/register/details')
    expect(after.html).toContain('mine@example.com')
    expect(after.html).not.toContain('newer value')
    expect(await client().getUser({ userid: rig.userid() })).toMatchObject({ moredetails })
    expect(await rig.events()).toContain('user_update_successful')
  })
})

describe('a person of whom the partner left out one needed detail', () => {
  const { addline1, city, state, zipcode } = ana.address
  const without: readonly (readonly [string, Partial<Prefill>, string, Readonly<Record<string, string>>])[] =
    [
      ['the first name', { firstname: '' }, 'name', { firstname: 'Ana', lastname: 'Ruiz' }],
      ['the last name', { lastname: '' }, 'name', { firstname: 'Ana', lastname: 'Ruiz' }],
      ['the birth date', { dob: '' }, 'dob', { dobmonth: '3', dobday: '27', dobyear: '1990' }],
      ['the email', { email: '' }, 'contact', { email: 'ana.ruiz@example.com' }],
      ['the state', { address: { addline1, city, zipcode } }, 'address', { addline1, city, state, zipcode }],
      ['the ZIP code', { address: { addline1, city, state } }, 'address', { addline1, city, state, zipcode }],
    ]
  test.each(without)('is asked for %s, and then enrols', async (_, left, group, answer) => {
    await rig.newPerson(left)
    const visitor = await open()
    expect(await visitor.get('/register')).toMatchObject({ status: 200, view: 'DETAILS_REVIEW' })
    expect((await visitor.get('/register/benefits')).view).toBe('DETAILS_REVIEW')
    expect((await visitor.get(`/register/details/${group}`)).view).toBe('DETAILS_EDIT')
    expect((await visitor.post(`/register/details/${group}`, answer)).view).toBe('DETAILS_REVIEW')
    expect((await visitor.get('/register/benefits')).view).toBe('BENEFITS')
    await visitor.post('/register/benefits', { benefit: ['dental'] })
    expect((await visitor.post('/register/enrol', recordsAgreed)).view).toBe('DONE')
  })
})

test('a form that was shown before the partner took a needed detail back leads to that detail', async () => {
  const visitor = await open({ offername: '' })
  expect((await visitor.get('/register/plan')).view).toBe('PLAN')
  await client().prefillUser({ userid: rig.userid(), ...ana, dob: '' })
  expect(await visitor.post('/register/plan', { offername: 'starter' })).toMatchObject({
    status: 200,
    view: 'DETAILS_REVIEW',
  })
  expect(await visitor.post('/register/offer', { offername: 'plus' })).toMatchObject({
    status: 200,
    view: 'DETAILS_REVIEW',
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
