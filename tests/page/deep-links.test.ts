import { describe, expect, test } from 'vitest'
import { changePartner } from '../../service/src/partners/administer.ts'
import { forAllTests } from '../for-all-tests.ts'
import { adaAsks } from '../rig.ts'
import { ana, backTo, type Rig, startRig } from './rig.ts'
import { newVisitor, type Shown, type Visitor, wordsOf } from './visitor.ts'

const rig = forAllTests(() => startRig({ startAt: Date.UTC(2027, 2, 10, 15) }))

function client() {
  return rig.partner.client
}

/** Opens a link in a new browser, and returns the first view. */
async function open(more: Parameters<Rig['mintLink']>[0]): Promise<{ visitor: Visitor; first: Shown }> {
  const visitor = newVisitor(rig.service)
  const link = await rig.mintLink(more)
  await visitor.get(link)
  return { visitor, first: await visitor.post(link) }
}

/** The deep link of a tile, as the service itself lists it now. */
async function tileOf(name: string, offername = ''): Promise<string> {
  const list = await client().getBenefits({ ...adaAsks, userid: rig.userid(), offername })
  const tile = list.find(benefit => benefit.name === name)
  if (!tile) throw new Error(`${name} is not listed`)
  return tile.deeplinkdata
}

async function member(benefits: string[]): Promise<void> {
  const userid = await rig.newPerson('unknown')
  await client().createUser({ userid, ...ana, offername: 'starter', benefits })
}

/** The benefit of the first card, and whether its coverage is open. */
function firstCard({ html }: Shown) {
  const [, name, card = ''] =
    /<article class="row[^"]*" id="card-(\w+)">([\s\S]*?)<\/article>/.exec(html) ?? []
  return { name, isOpen: /<details open>/.test(card), card }
}
function headingOf({ html }: Shown) {
  return /<h1[^>]*>([^<]+)<\/h1>/.exec(html)?.[1]
}

describe('deeplinkdata that a partner appends to the address of a link', () => {
  test.each(['?', '&'])('after %s leads as if the link carried it', async sign => {
    await rig.newPerson()
    const visitor = newVisitor(rig.service)
    const link = `${await rig.mintLink({})}${sign}${await tileOf('dental')}&utm_source=mail`
    const opened = await visitor.get(link)
    const [, action = ''] = /<form[^>]* action="([^"]+link[^"]+)"/.exec(opened.html) ?? []
    expect(action).toMatch(/\?productname=dental&amp;redirectto=enrol$/)
    await visitor.post(action.replaceAll('&amp;', '&'))
    await visitor.get('/register/details')
    expect((await visitor.post('/register/details')).html).toMatch(/value="dental"[^>]* checked/)
  })

  test('is ignored where it is unknown, and where the link carries its own', async () => {
    await member(['dental'])
    const visitor = newVisitor(rig.service)
    const own = await rig.mintLink({ deeplinkdata: await tileOf('dental') })
    const link = `${own}?productname=NO&redirectto=nowhere&other=x`
    expect((await visitor.get(link)).html).not.toContain('nowhere')
    expect((await visitor.post(`${own}?redirectto=swap`)).view).toBe('BENEFITS')
  })
})

describe('the tile of a benefit', () => {
  test('that a newcomer can have leads to it, chosen', async () => {
    await rig.newPerson()
    const deeplinkdata = await tileOf('dental')
    expect(deeplinkdata).toBe('productname=dental&producttype=discount&redirectto=enrol')
    const { visitor, first } = await open({ deeplinkdata })
    expect(first.view).toBe('DETAILS_REVIEW')
    await visitor.post('/register/details')
    const shown = await visitor.post('/register/details')
    expect(shown.view).toBe('BENEFITS')
    expect(firstCard(shown)).toMatchObject({ name: 'dental', isOpen: true })
    expect(shown.html).toMatch(/value="dental"[^>]* checked/)
  })

  test('of another plan leads a newcomer with a choice to that plan', async () => {
    await rig.newPerson()
    const { visitor } = await open({ deeplinkdata: await tileOf('hospital'), offername: '' })
    await visitor.post('/register/details')
    const plans = await visitor.post('/register/details')
    expect(plans.view).toBe('PLAN')
    expect(plans.html).toMatch(/value="plus"[^>]* checked/)
  })

  test('that a member has leads to it and to what can be done with it: manage', async () => {
    await member(['dental', 'vision'])
    const deeplinkdata = await tileOf('vision')
    expect(deeplinkdata).toContain('redirectto=manage')
    const { first } = await open({ deeplinkdata })
    expect(first).toMatchObject({ status: 200, view: 'BENEFITS' })
    expect(headingOf(first)).toBe('Your benefits')
    expect(firstCard(first)).toMatchObject({ name: 'vision', isOpen: true })
    expect(firstCard(first).card).toContain('Coverage began on March 10, 2027')
    for (const path of ['swap', 'offer', 'cancel', 'details'])
      expect(first.html).toContain(`<a href="/register/${path}">`)
  })

  test('that a member has, beside a free place, is still the first', async () => {
    await member(['vision'])
    const { first } = await open({ deeplinkdata: await tileOf('vision') })
    expect(first.view).toBe('BENEFITS')
    expect(firstCard(first)).toMatchObject({ name: 'vision', isOpen: true })
    expect(first.html).toContain('Choose Dental discount')
  })

  test('that a member can only read about leads to it, and tells which plan has it: details', async () => {
    await member(['dental'])
    const deeplinkdata = await tileOf('hospital', 'plus')
    expect(deeplinkdata).toContain('redirectto=details')
    const { visitor, first } = await open({ deeplinkdata })
    expect(first.view).toBe('BENEFITS')
    expect(firstCard(first)).toMatchObject({ name: 'hospital', isOpen: true })
    expect(firstCard(first).card).toContain('Available with Plus or Premier')
    expect(first.html).not.toMatch(/value="hospital"/)
    const spanish = await visitor.post('/register/benefits', { language: 'es' })
    expect(firstCard(spanish).card).toContain('Disponible con Plus o Premier')
  })

  test('that comes first, and is none of a member’s benefits, is not announced as one of them', async () => {
    await member(['dental', 'vision'])
    const { visitor, first } = await open({ deeplinkdata: await tileOf('hospital', 'plus') })
    expect(wordsOf(first)).toContain('Your plan is Starter. Not available Hospital cash')
    const spanish = await visitor.post('/register/language', { language: 'es', view: 'BENEFITS' })
    expect(wordsOf(spanish)).toContain('Su plan es Inicial. No disponibles')
  })

  test('that comes in by a swap alone leads to the swap', async () => {
    await member(['dental', 'vision'])
    const deeplinkdata = await tileOf('legal')
    expect(deeplinkdata).toContain('redirectto=swap')
    const { visitor, first } = await open({ deeplinkdata })
    expect(first.view).toBe('SWAP')
    const { html } = await visitor.get('/register/benefits')
    expect(html).toContain('Your plan has no room for one more')
    expect(html).toContain('href="/register/swap?in=legal"')
    const swap = await visitor.get('/register/swap?in=legal')
    expect(swap.html).toContain('Which benefit do you want to swap for Legal helpline?')
  })

  test('leads to no swap for what the planned plan does not have', async () => {
    const userid = await rig.newPerson('unknown')
    const benefits = ['dental', 'vision', 'critical']
    await client().createUser({ userid, ...ana, offername: 'plus', benefits })
    await client().changeOffer({ userid, offername: 'starter', action: 'auto', effective: 'auto' })
    const { first } = await open({ purpose: 'benefits', offername: '' })
    expect(first.html).toContain('href="/register/swap?in=legal"')
    expect(first.html).toContain('Income coverage')
    expect(first.html).not.toContain('swap?in=income')
  })

  test('that a newcomer has not chosen before leads to it, not past it', async () => {
    await rig.newPerson()
    const before = await open({})
    await before.visitor.get('/register/benefits')
    await before.visitor.post('/register/benefits', { benefit: ['dental'] })
    const { first: shown } = await open({ deeplinkdata: await tileOf('vision') })
    expect(shown.view).toBe('BENEFITS')
    expect(firstCard(shown)).toMatchObject({ name: 'vision', isOpen: true })
    expect(shown.html).toMatch(/value="dental"[^>]* checked/)
    const same = await open({ deeplinkdata: await tileOf('dental') })
    expect(same.first.view).toBe('CHECK_ANSWERS')
  })

  test('that a member may add leads to it, chosen: enrol', async () => {
    await member(['dental'])
    const deeplinkdata = await tileOf('legal')
    expect(deeplinkdata).toContain('redirectto=enrol')
    const { first } = await open({ deeplinkdata })
    expect(firstCard(first)).toMatchObject({ name: 'legal', isOpen: true })
    expect(first.html).toMatch(/value="legal"[^>]* checked/)
  })

  test('to a benefit of no catalogue is refused when it is minted; one of another type leads to the same views', async () => {
    await member(['dental', 'vision'])
    for (const redirectto of ['manage', 'details', 'enrol']) {
      const mint = (productname: string) =>
        open({ deeplinkdata: `productname=${productname}&producttype=service&redirectto=${redirectto}` })
      await expect(mint('constructor')).rejects.toMatchObject({
        status: 400,
        code: 'benefit_unknown',
        errors: [{ field: 'deeplinkdata', code: 'unknown' }],
      })
      expect((await mint('vision')).first).toMatchObject({ status: 200, view: 'BENEFITS' })
    }
  })

  test('keeps its language when it is changed on a view without a form', async () => {
    await member(['dental', 'vision'])
    const { visitor, first } = await open({ deeplinkdata: await tileOf('vision') })
    expect(first.view).toBe('BENEFITS')
    const spanish = await visitor.post('/register/language', { language: 'es', view: 'BENEFITS' })
    expect(spanish).toMatchObject({ view: 'BENEFITS', path: '/register/benefits' })
    expect(headingOf(spanish)).toBe('Sus beneficios')
  })
})

describe('a hostile address', () => {
  const hostile = [
    'https://evil.example/',
    '//evil.example',
    'https:evil.example',
    'javascript:alert(1)',
    'data:text/html,x',
    `${backTo}/`,
    `${backTo}?x=1`,
    `${backTo}#x`,
    `${backTo}.evil.example`,
    backTo.toUpperCase(),
    ` ${backTo}`,
    backTo.replace('localhost', 'localhost.'),
    backTo.replace('//', '//evil@'),
    backTo.replace('/b', '\\b'),
    `${backTo}\r\nSet-Cookie: a=b`,
    `${backTo}%0d%0aLocation:x`,
    backTo.replace(':4', ':04'),
    'ℎttps://x',
  ]

  test.each(hostile)('as redirecturl is refused when the link is made: %j', async redirecturl => {
    await rig.newPerson()
    await expect(rig.mintLink({ redirecturl })).rejects.toMatchObject({
      status: 400,
      errors: [{ field: 'redirecturl' }],
    })
  })

  test.each([
    'https://evil.example',
    '//evil.example',
    'javascript:alert(1)',
    '../../x',
    'swap/undo',
    'SWAP',
    '',
    'constructor',
    '__proto__',
    'swap%00',
    'swap\r\nLocation: //evil.example',
    'cancel',
    'done',
  ])('as redirectto is refused when the link is made: %j', async redirectto => {
    await rig.newPerson()
    const tile = { productname: 'dental', producttype: 'discount', redirectto }
    await expect(rig.mintLink({ deeplinkdata: new URLSearchParams(tile).toString() })).rejects.toMatchObject({
      status: 400,
      errors: [{ field: 'deeplinkdata' }],
    })
  })

  test.each([
    'productname=dental&producttype=discount',
    'productname=dental&producttype=discount&redirectto=swap&redirectto=manage',
    'productname=../../x&producttype=discount&redirectto=swap',
    'productname=%3Cscript%3E&producttype=discount&redirectto=swap',
    'redirectto=swap',
  ])('as any other part of a deep link is refused: %j', async deeplinkdata => {
    await rig.newPerson()
    await expect(rig.mintLink({ deeplinkdata })).rejects.toMatchObject({ code: 'bad_request' })
  })

  test('in the query or form of a view leads nowhere', async () => {
    await member(['dental', 'vision'])
    const { visitor } = await open({ redirecturl: backTo })
    const names = ['redirectto', 'redirecturl', 'next', 'url', 'to', 'returnto', 'continue']
    const query = new URLSearchParams(names.map(name => [name, 'https://evil.example/'])).toString()
    for (const path of ['', '/overview', '/benefits', '/swap', '/done', '/details']) {
      const answer = await visitor.send(`/register${path}?${query}`)
      expect(answer.headers.get('location') ?? '/register').toMatch(/^\/register/)
      expect(await answer.text()).not.toContain('evil.example')
    }
    for (const path of ['/benefits', '/swap', '/offer', '/cancel', '/language', '/swap/undo', '/details']) {
      const body = new URLSearchParams(`${query}&language=es&view=https://evil.example`)
      const answer = await visitor.send(`/register${path}`, { method: 'POST', body })
      expect(answer.headers.get('location') ?? '/register').toMatch(/^\/register/)
      expect(await answer.text()).not.toContain('evil.example')
    }
  })

  test('that the partner has taken from its list is shown no more', async () => {
    await member(['dental'])
    const { visitor, first } = await open({ redirecturl: backTo })
    expect(first.html).toContain(`href="${backTo}"`)
    await changePartner(rig.partner.partnerId, { redirects: [] }, rig.running.manage)
    rig.running.advance(2_000)
    expect((await visitor.get('/register/overview')).html).not.toContain(backTo)
    await changePartner(rig.partner.partnerId, { redirects: [backTo] }, rig.running.manage)
    rig.running.advance(2_000)
    expect((await visitor.get('/register/overview')).html).toContain(backTo)
  })
})
