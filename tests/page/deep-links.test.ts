import { describe, expect, test } from 'vitest'
import { changePartner } from '../../service/src/partners/administer.ts'
import { forAllTests } from '../for-all-tests.ts'
import { adaAsks } from '../rig.ts'
import { ana, backTo, type Rig, startRig } from './rig.ts'
import { newVisitor, type Shown, type Visitor } from './visitor.ts'

const rig = forAllTests(() => startRig())

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
async function tileOf(name: string): Promise<string> {
  const list = await client().getBenefits({ ...adaAsks, userid: rig.userid() })
  const tile = list.find(benefit => benefit.name === name)
  if (!tile) throw new Error(`${name} is not listed`)
  return tile.deeplinkdata
}

async function member(benefits: string[]): Promise<void> {
  const userid = await rig.newPerson('unknown')
  await client().createUser({ userid, ...ana, offername: 'starter', benefits })
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
