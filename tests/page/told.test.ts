import { afterAll, describe, expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { everydayOr } from '../long.ts'
import { ana, startRig } from './rig.ts'
import { newVisitor, recordsAgreed, type Shown, type Visitor, wordsOf } from './visitor.ts'

type Language = 'en' | 'es'
const languages = everydayOr<readonly ('en' | 'es')[]>(['en'], ['en', 'es'])

const rig = forAllTests(() => startRig({ startAt: Date.UTC(2027, 2, 10, 16) }))
/** The partner's date, which only moves forward: always the tenth of a month at noon. */
let today = '2027-03-10'
afterAll(async () => {
  const failures = rig.running.logged.filter(({ event }) => event === 'failure')
  expect(failures).toEqual([])
})

function client() {
  return rig.partner.client
}
function user() {
  return client().getUser({ userid: rig.userid() })
}
async function stateOf(name: string) {
  const found = await user()
  return 'benefits' in found ? found.benefits.find(benefit => benefit.name === name)?.state : undefined
}

/** Days of the partner's calendar as the page words them. */
function dayIn(language: Language, day: string) {
  return new Intl.DateTimeFormat(language === 'es' ? 'es-US' : 'en-US', {
    dateStyle: 'long',
    timeZone: 'UTC',
  }).format(new Date(`${day}T00:00:00Z`))
}
function firstOfNext() {
  const [year = 0, month = 0] = today.split('-').map(Number)
  return new Date(Date.UTC(year, month, 1)).toISOString().slice(0, 10)
}
function dayBefore(day: string) {
  return new Date(Date.parse(`${day}T00:00:00Z`) - 86_400_000).toISOString().slice(0, 10)
}
async function moveToNextMonth() {
  today = `${firstOfNext().slice(0, 8)}10`
  await client().advanceClock({ advanceto: `${today}T16:00:00.000Z` })
}

/** A member with a session in this language; `startsIn` is the number of days until a membership that has not begun. */
async function member(
  language: Language,
  has: { offername?: string; benefits?: string[]; effectivedate?: string } = {},
): Promise<Visitor> {
  const userid = await rig.newPerson('unknown')
  await client().createUser({ userid, ...ana, offername: 'starter', benefits: ['dental'], ...has })
  return session(language)
}
async function session(language: Language): Promise<Visitor> {
  const visitor = newVisitor(rig.service)
  const address = await rig.mintLink({ offername: '', locale: language })
  await visitor.get(address)
  await visitor.post(address)
  return visitor
}

/** The words of a confirmation: its heading, its sentence, and its next steps without the one about the reference. */
function said({ html, view }: Shown) {
  expect(view).toBe('DONE')
  const text = (found = '') => found.replace(/<[^>]+>/g, '').trim()
  const next = [
    ...(
      /<h2>(?:What happens next|Qué sigue)<\/h2>.*?<ul class="plain">(.*?)<\/ul>/s.exec(html)?.[1] ?? ''
    ).matchAll(/<li>(.*?)<\/li>/gs),
  ]
  return {
    title: text(/<h1[^>]*>(.*?)<\/h1>/s.exec(html)?.[1]),
    lead: text(/<p class="lead">(.*?)<\/p>/s.exec(html)?.[1]),
    next: next.map(([, line]) => text(line)).slice(0, -1),
  }
}
/** The benefits that a view lists, each with its facts. */
function listed({ html }: Shown) {
  return [...html.matchAll(/<p class="name">([^<]+)<\/p>((?:<p class="hint">[^<]*<\/p>)*)/g)].map(
    ([, name = '', facts = '']) => [
      name,
      ...facts
        .replace(/<\/p>/g, '|')
        .replace(/<[^>]+>/g, '')
        .split('|')
        .filter(Boolean),
    ],
  )
}

const nothingElse = { en: 'You do not have to do anything else.', es: 'No tiene que hacer nada más.' }
const untilThen = {
  en: 'You do not have to do anything until then.',
  es: 'No tiene que hacer nada hasta entonces.',
}

describe.each(languages)('the confirmation says what is true, in %s', language => {
  const say = (en: string, es: string) => (language === 'es' ? es : en)
  const on = (day: string) => dayIn(language, day)

  test('of an enrollment that is in force now', async () => {
    await rig.newPerson()
    const visitor = newVisitor(rig.service)
    const address = await rig.mintLink({ locale: language })
    await visitor.get(address)
    await visitor.post(address)
    await visitor.get('/register/benefits')
    await visitor.post('/register/benefits', { benefit: ['dental'] })
    const done = await visitor.post('/register/enrol', recordsAgreed)
    expect(said(done)).toEqual({
      title: say('You are enrolled', 'Su inscripción está lista'),
      lead: say('Each benefit shows when it starts.', 'Cada beneficio indica cuándo empieza.'),
      next: [],
    })
    expect(await stateOf('dental')).toBe('enrolled')
  })

  test('of a benefit added to a membership that is still to start', async () => {
    const start = firstOfNext()
    const visitor = await member(language, { effectivedate: start })
    await visitor.get('/register/benefits')
    await visitor.post('/register/benefits', { benefit: ['vision'] })
    const done = await visitor.post('/register/enrol', recordsAgreed)
    expect(said(done)).toEqual({
      title: say(
        `Your new benefit is added and starts on ${on(start)}`,
        `Se agregó su beneficio nuevo, que empieza el ${on(start)}`,
      ),
      lead: say('There is no coverage before that day.', 'Antes de ese día no hay cobertura.'),
      next: [untilThen[language]],
    })
    expect(await stateOf('vision')).toBe('scheduled')
  })

  test.each([
    [['vision'], 'Your new benefit is added', 'Se agregó su beneficio nuevo'],
    [['vision', 'legal'], 'Your new benefits are added', 'Se agregaron sus beneficios nuevos'],
  ] as const)('of what a member adds now: %s', async (added, en, es) => {
    const visitor = await member(language, { benefits: [] })
    const choice = await visitor.get('/register/benefits')
    expect(wordsOf(choice)).toContain(
      say('You can choose up to 2 more benefits with ', 'Puede elegir hasta 2 beneficios más con '),
    )
    await visitor.post('/register/benefits', { benefit: added })
    const done = await visitor.post('/register/enrol', recordsAgreed)
    expect(said(done)).toEqual({
      title: say(en, es),
      lead: say('These are all your benefits.', 'Estos son todos sus beneficios.'),
      next: added.length > 1 ? [nothingElse[language]] : [],
    })
    expect(listed(done)).toHaveLength(1 + added.length)
    expect(await stateOf('vision')).toBe('enrolled')
  })

  test('of a higher plan now, and from the day on which the membership starts', async () => {
    const change = async (visitor: Visitor) => {
      await visitor.get('/register/offer')
      await visitor.post('/register/offer', { offername: 'plus' })
      return visitor.post('/register/offer/confirm')
    }
    expect(said(await change(await member(language)))).toEqual({
      title: say('You moved up to Plus', 'Ya tiene el plan superior Plus'),
      lead: say('Your new plan is in force.', 'Su plan nuevo está vigente.'),
      next: [],
    })
    expect(await user()).toMatchObject({ currentofferdetails: { offer: 'plus' }, pendingoffer: null })
    const start = firstOfNext()
    expect(said(await change(await member(language, { effectivedate: start })))).toEqual({
      title: say(`You move up to Plus on ${on(start)}`, `Pasará al plan superior Plus el ${on(start)}`),
      lead: say('Nothing changes before that day.', 'Antes de ese día no cambia nada.'),
      next: [say('Your plan changes by itself on that day.', 'Su plan cambia automáticamente ese día.')],
    })
    expect(await user()).toMatchObject({ pendingoffer: { offer: 'plus' } })
  })

  test('of a lower plan from a day, taken back; once that day has come the overview says it', async () => {
    const visitor = await member(language, { offername: 'plus', benefits: ['vision'] })
    const start = firstOfNext()
    const choose = async () => {
      await visitor.get('/register/offer')
      return visitor.post('/register/offer', { offername: 'starter' })
    }
    const confirm = await choose()
    expect(listed(confirm)).toContainEqual([
      say('Hospital cash', 'Dinero por hospitalización'),
      say(`Ends on ${on(dayBefore(start))}`, `Termina el ${on(dayBefore(start))}`),
    ])
    const done = await visitor.post('/register/offer/confirm')
    const words = {
      title: say(`You move to Starter on ${on(start)}`, `Pasará al plan Inicial el ${on(start)}`),
      lead: say(
        'Until then you keep the plan and the benefits you have now.',
        'Hasta entonces conserva el plan y los beneficios que tiene ahora.',
      ),
      next: [
        say(
          'Your plan changes by itself on that day. What does not come with it ends on the day shown.',
          'Su plan cambia automáticamente ese día. Lo que no viene con él termina el día indicado.',
        ),
      ],
    }
    expect(said(done)).toEqual(words)
    const isAhead = { currentofferdetails: { offer: 'plus' }, pendingoffer: { offer: 'starter' } }
    expect(await user()).toMatchObject(isAhead)
    await visitor.get('/register/offer')
    expect(said(await visitor.post('/register/offer/undo'))).toEqual({
      title: say('You stay on Plus', 'Se queda con Plus'),
      lead: say('The change of your plan is undone.', 'Deshicimos el cambio de su plan.'),
      next: [],
    })
    expect(await user()).toMatchObject({ pendingoffer: null })
    await choose()
    expect(said(await visitor.post('/register/offer/confirm'))).toEqual(words)
    await moveToNextMonth()
    const overview = await visitor.get('/register/done')
    expect(overview.view).toBe('ALREADY_ENROLLED')
    expect(wordsOf(overview)).toContain(say('Your plan is Starter.', 'Su plan es Inicial.'))
    expect(await user()).toMatchObject({ currentofferdetails: { offer: 'starter' }, pendingoffer: null })
  })

  test('of a change of plan taken back before the membership starts', async () => {
    const start = firstOfNext()
    const visitor = await member(language, { effectivedate: start })
    await visitor.get('/register/offer')
    await visitor.post('/register/offer', { offername: 'plus' })
    await visitor.post('/register/offer/confirm')
    await visitor.get('/register/offer')
    expect(said(await visitor.post('/register/offer/undo'))).toEqual({
      title: say(`You start with Starter on ${on(start)}`, `Empieza con Inicial el ${on(start)}`),
      lead: say(
        'The change of your plan is undone. There is no coverage before that day.',
        'Deshicimos el cambio de su plan. Antes de ese día no hay cobertura.',
      ),
      next: [],
    })
    const { timeline } = (await client().getUser({ userid: rig.userid(), include: ['timeline'] })) as {
      timeline: { what: string; to: string }[]
    }
    expect(timeline.filter(({ what }) => what === 'offer')).toMatchObject([{ to: 'starter' }])
  })

  test('of a swap from a day with all benefits, taken back; once that day has come the overview says it', async () => {
    const visitor = await member(language, { benefits: ['telehealth', 'dental'] })
    const start = firstOfNext()
    const choose = async () => {
      await visitor.get('/register/swap')
      await visitor.post('/register/swap', { out: 'dental', in: 'vision' })
      return visitor.post('/register/swap/confirm')
    }
    const done = await choose()
    const words = {
      title: say(`Your swap is set for ${on(start)}`, `Su intercambio queda para el ${on(start)}`),
      lead: say(
        'Until then you keep the benefits you have now.',
        'Hasta entonces conserva los beneficios que tiene ahora.',
      ),
      next: [
        say('The swap happens by itself on that day.', 'El intercambio se hace automáticamente ese día.'),
      ],
    }
    expect(said(done)).toEqual(words)
    const facts = Object.fromEntries(listed(done).map(([name = '', first = '']) => [name, first]))
    expect(facts).toEqual({
      ...facts,
      [say('Dental discount', 'Descuento dental')]: say(
        `Ends on ${on(dayBefore(start))}`,
        `Termina el ${on(dayBefore(start))}`,
      ),
      [say('Vision discount', 'Descuento de visión')]: say(
        `Starts on ${on(start)}`,
        `Empieza el ${on(start)}`,
      ),
      [say('Telehealth', 'Telemedicina')]: say(
        `Coverage began on ${on(today)}`,
        `La cobertura empezó el ${on(today)}`,
      ),
    })
    const found = await user()
    expect(Object.keys(facts)).toHaveLength('benefits' in found ? found.benefits.length : 0)
    await visitor.get('/register/swap')
    expect(said(await visitor.post('/register/swap/undo'))).toEqual({
      title: say('Your swap is undone', 'Deshicimos su intercambio'),
      lead: say('You keep the benefits you have now.', 'Conserva los beneficios que tiene ahora.'),
      next: [nothingElse[language]],
    })
    expect(await user()).toMatchObject({ conditions: [] })
    expect(said(await choose())).toEqual(words)
    expect(await user()).toMatchObject({ conditions: ['swappending'] })
    await moveToNextMonth()
    const overview = await visitor.get('/register/done')
    expect(overview.view).toBe('ALREADY_ENROLLED')
    expect(listed(overview).map(([name]) => name)).toContain(say('Vision discount', 'Descuento de visión'))
    expect([await stateOf('vision'), await stateOf('dental')]).toEqual(['enrolled', 'ended'])
  })

  test('of a cancel from a day, taken back; once that day has passed the session is over', async () => {
    const visitor = await member(language)
    const last = dayBefore(firstOfNext())
    const cancel = async () => {
      await visitor.get('/register/cancel')
      return visitor.post('/register/cancel', { effective: 'endofperiod' })
    }
    const words = {
      title: say(`Your benefits will end on ${on(last)}`, `Sus beneficios terminarán el ${on(last)}`),
      lead: say('You are covered until the end of that day.', 'Tiene cobertura hasta el final de ese día.'),
      next: [
        say(
          'Changed your mind? Until then you can keep your benefits. For 30 days after that you can still bring them back if you qualify.',
          '¿Cambió de opinión? Hasta entonces puede conservar sus beneficios. Durante los 30 días siguientes todavía puede recuperarlos si cumple los requisitos.',
        ),
      ],
    }
    expect(said(await cancel())).toEqual(words)
    expect(await user()).toMatchObject({ status: 'active', conditions: ['cancelpending'] })
    await visitor.get('/register/cancel')
    expect(said(await visitor.post('/register/cancel/undo'))).toEqual({
      title: say('You keep your benefits', 'Conserva sus beneficios'),
      lead: say(
        'The cancellation is undone. Your coverage goes on without a gap.',
        'Deshicimos la cancelación. Su cobertura sigue sin interrupción.',
      ),
      next: [],
    })
    expect(await user()).toMatchObject({ status: 'active', conditions: [] })
    expect(said(await cancel())).toEqual(words)
    await moveToNextMonth()
    expect((await visitor.get('/register/done')).view).toBe('LINK_ENDED')
    expect(await user()).toMatchObject({ status: 'cancelled' })
  })

  test('of a cancel that holds now, and of coming back after it', async () => {
    const visitor = await member(language)
    await visitor.get('/register/cancel')
    const done = await visitor.post('/register/cancel', { effective: 'immediate' })
    expect(said(done)).toMatchObject({
      title: say('Your benefits have ended', 'Sus beneficios terminaron'),
      lead: say(`Your coverage ended today, ${on(today)}.`, `Su cobertura terminó hoy, ${on(today)}.`),
      next: [
        expect.stringContaining(
          say(
            'you can bring your benefits back. The last moment is',
            'puede recuperar sus beneficios. El último momento es el',
          ),
        ),
      ],
    })
    expect(listed(done)).toContainEqual([
      say('Dental discount', 'Descuento dental'),
      say(`Ended on ${on(today)}`, `Terminó el ${on(today)}`),
    ])
    expect(await user()).toMatchObject({ status: 'cancelled' })
    expect(await stateOf('dental')).toBe('ended')
    const back = await session(language)
    const start = await back.get('/register/details')
    expect(listed(start).map(([name]) => name)).toContain(say('Dental discount', 'Descuento dental'))
    expect(said(await back.post('/register/comeback'))).toEqual({
      title: say('Your benefits are back', 'Recuperó sus beneficios'),
      lead: say(
        'Your plan is in force again. There was no coverage while it was canceled.',
        'Su plan está vigente otra vez. Mientras estuvo cancelado no hubo cobertura.',
      ),
      next: [],
    })
    expect(await user()).toMatchObject({ status: 'active', conditions: [] })
    expect(await stateOf('dental')).toBe('enrolled')
  })

  test('of a cancel before the membership starts, and of coming back to its start', async () => {
    const start = firstOfNext()
    const visitor = await member(language, { effectivedate: start })
    const cancel = await visitor.get('/register/cancel')
    expect(cancel.html).not.toContain('type="radio"')
    expect(wordsOf(cancel)).toContain(
      say(
        'you can bring them back within 30 days of canceling, if you still qualify.',
        'puede recuperarlos dentro de los 30 días después de cancelar, si todavía cumple los requisitos.',
      ),
    )
    expect(wordsOf(cancel)).not.toMatch(/no coverage in between|En ese tiempo no tiene cobertura/)
    expect(said(await visitor.post('/register/cancel', { effective: 'immediate' }))).toMatchObject({
      title: say('Your enrollment is canceled', 'Su inscripción está cancelada'),
      lead: say(
        'Your benefits had not started, and they will not start.',
        'Sus beneficios no habían empezado y ya no van a empezar.',
      ),
    })
    expect(await stateOf('dental')).toBe('withdrawn')
    const back = await session(language)
    await back.get('/register/details')
    expect(said(await back.post('/register/comeback'))).toEqual({
      title: say(
        `Your benefits are back and start on ${on(start)}`,
        `Recuperó sus beneficios, que empiezan el ${on(start)}`,
      ),
      lead: say('There is no coverage before that day.', 'Antes de ese día no hay cobertura.'),
      next: [],
    })
    expect(await stateOf('dental')).toBe('scheduled')
  })
})

test('a person who cannot come back any longer is not offered it', async () => {
  const visitor = await member('en')
  await visitor.get('/register/cancel')
  await visitor.post('/register/cancel', { effective: 'immediate' })
  await moveToNextMonth()
  await moveToNextMonth()
  const back = await session('en')
  expect((await back.get('/register/details')).html).not.toContain('/register/comeback')
  expect((await back.post('/register/comeback')).view).toBe('DETAILS_REVIEW')
  expect(await user()).toMatchObject({ status: 'cancelled' })
})

test('a benefit that will end by age is listed with its start too, and its card warns of nothing', async () => {
  const visitor = await member('en', { offername: 'plus', benefits: [] })
  await visitor.get('/register/benefits')
  await visitor.post('/register/benefits', { benefit: ['critical'] })
  const done = await visitor.post('/register/enrol', recordsAgreed)
  const began = `Coverage began on ${dayIn('en', today)}`
  const line = [
    'Critical illness',
    began,
    'Ends on March 31, 2060, after you turn 70',
    'You pay $6.50 a month',
  ]
  expect(listed(done)).toContainEqual(line)
  const card = wordsOf(await visitor.get('/register/benefits')).split('Critical illness')[1]
  expect(card).toContain(`${began} and ends on March 31, 2060`)
  await client().swapBenefits({ userid: rig.userid(), add: ['income'], remove: ['critical'] })
  const planned = listed(await visitor.get('/register/overview'))
  expect(planned).toContainEqual([
    'Critical illness',
    `Ends on ${dayIn('en', dayBefore(firstOfNext()))}`,
    line[3],
  ])
  expect(planned).toContainEqual([
    'Income coverage',
    `Starts on ${dayIn('en', firstOfNext())}`,
    'Ends on March 31, 2057, after you turn 67',
    'You pay $12.50 a month',
  ])
})

test('a benefit that has ended is listed without a price, since nobody pays for it', async () => {
  const visitor = await member('en', { offername: 'plus', benefits: ['critical'] })
  expect(wordsOf(await visitor.get('/register/cancel'))).toContain('You pay $6.50 a month')
  const done = await visitor.post('/register/cancel', { effective: 'immediate' })
  expect(listed(done)).toContainEqual(['Critical illness', `Ended on ${dayIn('en', today)}`])
})

test('a confirmation that somebody else has undone is not shown as if it held', async () => {
  const visitor = await member('en', { offername: 'plus', benefits: ['vision'] })
  await visitor.get('/register/offer')
  await visitor.post('/register/offer', { offername: 'starter' })
  await visitor.post('/register/offer/confirm')
  await client().undoOfferChange({ userid: rig.userid() })
  expect((await visitor.get('/register/done')).view).toBe('ALREADY_ENROLLED')
})

test('a form that was left open in another window does not put back what a member has corrected since', async () => {
  const visitor = await member('en')
  const form = '/register/details/contact'
  const { html } = await visitor.get(form)
  const draft = /name="draft" value="([^"]+)"/.exec(html)?.[1] ?? ''
  const newer = { draft, email: ana.email, phone: '3055550999' }
  for (const _ of ['press', 'repeat'])
    expect(await visitor.post(form, newer)).toMatchObject({ status: 200, view: 'DETAILS_REVIEW' })
  const older = await visitor.post(form, { draft, email: 'new@example.com', phone: ana.phone })
  expect(older).toMatchObject({ status: 409, view: 'DETAILS_EDIT' })
  expect(older.html).toContain('value="3055550999"')
  // What was not taken is heard, by a notice that has the focus, with what had been typed.
  expect(older.html).toMatch(/role="alert"\stabindex="-1" data-focus>[^!]*<li>[^<]*new@example\.com/)
  await visitor.post(form, { email: 'new@example.com', phone: '3055550999' })
  expect(wordsOf(await visitor.get('/register/details'))).toContain('new@example.com (305) 555-0999')
})
