import { beforeEach, describe, expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService } from '../rig.ts'
import { ana, backTo, type Rig, startRig } from './rig.ts'
import { newVisitor, openLink, type Visitor, wordsOf } from './visitor.ts'

const rig = forAllTests(startRig)
beforeEach(() => rig.newPerson().then(() => undefined))

const minute = 60_000
function open(more: Parameters<Rig['mintLink']>[0] = {}): Promise<Visitor> {
  return openLink(rig, more)
}
function client() {
  return rig.partner.client
}

describe('a link', () => {
  test('of fifty browsers that press at once, exactly one gets in', async () => {
    const link = await rig.mintLink()
    const presses = await Promise.all(
      Array.from({ length: 50 }, () => newVisitor(rig.service).send(link, { method: 'POST' })),
    )
    const counts = new Map<number, number>()
    for (const { status } of presses) counts.set(status, (counts.get(status) ?? 0) + 1)
    expect(Object.fromEntries(counts)).toEqual({ 303: 1, 410: 49 })
  })

  test('pressed twice by one browser leads into the same session, by another nowhere', async () => {
    const link = await rig.mintLink()
    const visitor = newVisitor(rig.service)
    await visitor.get(link)
    const both = await Promise.all([
      visitor.send(link, { method: 'POST' }),
      visitor.send(link, { method: 'POST' }),
    ])
    expect(both.map(({ status }) => status)).toEqual([303, 303])
    expect(both[0]?.headers.getSetCookie()).toEqual(both[1]?.headers.getSetCookie())
    expect((await newVisitor(rig.service).post(link)).status).toBe(410)
    rig.running.advance(2 * minute)
    expect((await visitor.send(link, { method: 'POST' })).status).toBe(410)
  })

  test('is not spent by being fetched, as mail scanners do', async () => {
    const link = await rig.mintLink({ delivery: 'email' })
    for (let fetched = 0; fetched < 3; fetched += 1) {
      expect(await newVisitor(rig.service).get(link)).toMatchObject({ status: 200, view: 'OPEN' })
    }
    expect(await newVisitor(rig.service).post(link)).toMatchObject({ status: 200, view: 'CHALLENGE' })
  })

  test('that was used, revoked, has expired, was never ours or is for the embed: one page', async () => {
    const used = await rig.mintLink()
    await newVisitor(rig.service).post(used)
    const revoked = await rig.mintLink()
    await rig.endSessions()
    const embedded = `${rig.service}/register/link/${await rig.mintToken()}`
    const expired = await rig.mintLink()
    rig.running.advance(16 * minute)
    const unknown = used.replace(/.$/, last => (last === 'a' ? 'b' : 'a'))
    const pages = await Promise.all(
      [used, revoked, embedded, expired, unknown, `${unknown}/`, unknown + 'x'.repeat(3000)].flatMap(link => [
        newVisitor(rig.service).get(link),
        newVisitor(rig.service).post(link),
      ]),
    )
    expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([410]))
    expect(new Set(pages.map(({ html }) => html)).size).toBe(1)
    // The prefix of the token names the partner, whatever the rest of it.
    expect(pages[0]?.html).toContain('Harbor Rides')
    const foreign = await newVisitor(rig.service).get(`${rig.service}/register/link/x`)
    expect([foreign.status, foreign.html.includes('Harbor')]).toEqual([410, false])
    // Nobody knows whether there ever were any.
    expect(wordsOf(foreign)).toContain('If you saved answers here before, they are kept.')
    expect(wordsOf(foreign)).not.toContain('Answers you already saved are kept')
  })

  test('is not spent by asking for a language, known or not', async () => {
    const link = await rig.mintLink()
    const visitor = newVisitor(rig.service)
    for (const [language, lang] of [
      ['es', 'es'],
      ['xx', 'en'],
      ['', 'en'],
    ] as const) {
      const shown = await visitor.post(link, { language })
      expect(shown).toMatchObject({ status: 200, view: 'OPEN' })
      expect(shown.html).toContain(`<html lang="${lang}"`)
    }
    expect((await visitor.post(link)).view).toBe('DETAILS_REVIEW')
  })

  test('leaves no token in the address, the cookie’s neighbours or the log', async () => {
    const link = await rig.mintLink()
    const token = link.split('/').at(-1) ?? ''
    const visitor = newVisitor(rig.service)
    const shown = await visitor.get(link)
    expect(shown.headers.get('referrer-policy')).toBe('no-referrer')
    const pressed = await visitor.send(link, { method: 'POST' })
    expect(pressed.headers.get('location')).toBe('/register')
    const [cookie = ''] = pressed.headers.getSetCookie()
    expect(cookie).toMatch(/^enrolment-sandbox=enr_sh_sandbox_\w+; Path=\/; HttpOnly; SameSite=Lax$/)
    expect((await visitor.get('/register')).view).toBe('DETAILS_REVIEW')
    const log = JSON.stringify(rig.running.logged)
    expect(log).toContain('/register/link/:linktoken')
    expect(log).not.toContain(token)
    expect(log).not.toContain(cookie.slice(18, 60))
    expect(log).not.toMatch(/Ruiz|Brickell|ana\.ruiz/)
  })

  test('makes the user registering, also one of whom nothing was known', async () => {
    await open()
    expect(await client().getUser({ userid: rig.userid() })).toMatchObject({ status: 'registering' })
    await rig.newPerson('unknown')
    const visitor = await open()
    expect(await client().getUser({ userid: rig.userid() })).toMatchObject({ status: 'registering' })
    expect((await visitor.get('/register')).view).toBe('DETAILS_REVIEW')
  })

  test('leads nowhere that was not registered', async () => {
    for (const redirecturl of [
      'https://evil.example/',
      `${backTo}/`,
      `${backTo}#x`,
      'javascript:alert(1)',
      '//evil.example',
    ]) {
      await expect(rig.mintLink({ redirecturl })).rejects.toMatchObject({ code: 'bad_request' })
    }
    for (const deeplinkdata of [
      'productname=dental&producttype=discount&redirectto=https://evil.example',
      'redirectto=//evil',
    ]) {
      await expect(rig.mintLink({ deeplinkdata })).rejects.toMatchObject({ code: 'bad_request' })
    }
    const visitor = await open()
    for (const view of ['//evil.example', 'https://evil.example', '../../x', '__proto__']) {
      const answer = await visitor.send('/register/language', {
        method: 'POST',
        body: new URLSearchParams({ language: 'es', view }),
      })
      expect(answer.headers.get('location')).toBe('/register')
    }
  })
})

describe('a session', () => {
  test('ends after 60 minutes without a sign of life, and after 24 hours in all', async () => {
    const visitor = await open()
    rig.running.advance(59 * minute)
    expect((await visitor.send('/register/stay', { method: 'POST' })).status).toBe(204)
    rig.running.advance(59 * minute)
    expect((await visitor.get('/register/details')).status).toBe(200)
    rig.running.advance(61 * minute)
    const away = await visitor.get('/register/details')
    expect(away).toMatchObject({ status: 401, view: 'LINK_ENDED' })
    expect(wordsOf(away)).toContain('You were away for a while')
    const busy = await open()
    for (let hours = 0; hours < 24; hours += 1) {
      rig.running.advance(59 * minute)
      expect((await busy.send('/register/stay', { method: 'POST' })).status).toBe(204)
    }
    rig.running.advance(30 * minute)
    const over = await busy.get('/register/details')
    expect(over.status).toBe(401)
    expect(wordsOf(over)).not.toContain('You were away for a while')
    expect(wordsOf(over)).toContain('This page is closed')
  })

  test('ends with a revocation, a cancel in effect and an erasure', async () => {
    const revoked = await open()
    await rig.endSessions()
    expect((await revoked.get('/register')).status).toBe(401)
    const cancelled = await open()
    await client().createUser({ userid: rig.userid(), offername: 'starter' })
    await client().cancelUser({ userid: rig.userid(), effective: 'immediate' })
    expect((await cancelled.get('/register')).status).toBe(401)
    await rig.newPerson()
    const erased = await open()
    await client().eraseUser({ userid: rig.userid() })
    expect((await erased.get('/register')).status).toBe(401)
    await rig.newPerson()
    await client().prefillUser({ userid: rig.userid(), ...ana })
    expect((await erased.get('/register')).status).toBe(401)
  })

  test('that a browser without cookies cannot keep is explained, in either language', async () => {
    const press = await fetch(await rig.mintLink(), { method: 'POST', redirect: 'manual' })
    const shown = (headers: Record<string, string>) =>
      newVisitor(rig.service).get(press.headers.get('location') ?? '', headers)
    const blocked = await shown({})
    expect(blocked).toMatchObject({ status: 401, view: 'LINK_ENDED' })
    expect(wordsOf(blocked)).toContain('your browser blocks cookies')
    const spanish = await shown({ 'accept-language': 'es' })
    expect(wordsOf(spanish)).toContain('su navegador bloquea las cookies')
    const closed = await open()
    await rig.endSessions()
    expect(wordsOf(await closed.get('/register'))).not.toContain('cookies')
  })

  test('that has ended names the partner and leads back there, in either language', async () => {
    const back = `href="${backTo}"`
    const visitor = await open({ redirecturl: backTo })
    await rig.endSessions()
    const ended = await visitor.get('/register/details')
    const spanish = await visitor.post('/register/language', {
      language: 'es',
      view: 'LINK_ENDED',
      kind: 'closed',
    })
    for (const { view, html } of [ended, spanish]) {
      expect(view).toBe('LINK_ENDED')
      expect(html).toContain(back)
      expect(html).toContain('Harbor Rides')
    }
    const without = await open()
    await rig.endSessions()
    expect((await without.get('/register/details')).html).not.toContain(back)
    const dead = await visitor.post('/register/language', {
      language: 'es',
      view: 'LINK_ENDED',
      kind: 'link',
    })
    expect(dead.html).not.toContain('Harbor Rides')
  })

  test('of the frame is not helped by a cookie', async () => {
    const visitor = await open()
    const answer = await visitor.send('/register/details', { headers: { authorization: 'Session nonsense' } })
    expect(answer.status).toBe(401)
  })

  test('that is missing is a 401 with a challenge, like each 401 of the service, on the page and in the frame', async () => {
    const page = await fetch(`${rig.service}/register`)
    const frame = await fetch(`${rig.service}/embed/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ linktoken: 'x', origin: rig.host }),
    })
    for (const { status, headers } of [page, frame])
      expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
  })

  test('does nothing for another site', async () => {
    const visitor = await open()
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: rig.host },
      { 'sec-fetch-site': 'cross-site', origin: 'null' },
      { 'sec-fetch-site': 'same-site', origin: 'null' },
    ]) {
      const answer = await visitor.send('/register/details', { method: 'POST', headers })
      expect(answer.status).toBe(403)
      const html = await answer.text()
      expect(html).toContain('it was sent from another website, not from your benefits page.')
      expect(html).not.toContain('on our side')
      expect(html).toContain('<a class="primary" href="/register">Open my benefits</a>')
    }
    const large = new URLSearchParams({ firstname: 'x'.repeat(70_000) })
    const unreadable = await visitor.send('/register/details/name', { method: 'POST', body: large })
    expect(unreadable.status).toBe(413)
    expect(await unreadable.text()).toContain('We could not read what was sent')
    const own = { 'sec-fetch-site': 'same-origin', origin: 'null' }
    expect((await visitor.send('/register/details', { method: 'POST', headers: own })).status).toBe(303)
  })

  test('has the headers of its table, on views, faults and files, and nothing at other paths', async () => {
    const visitor = await open()
    for (const path of ['/register/details', '/register/nowhere', '/register/details/dob']) {
      const { headers } = await visitor.get(path)
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      )
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('x-content-type-options')).toBe('nosniff')
    }
    const dropIn = await visitor.send(rig.built.dropIn)
    expect(dropIn.headers.get('access-control-allow-origin')).toBe('*')
    expect(dropIn.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    const shown = await visitor.get('/register/details')
    const [, icon = ''] = /<link rel="icon" href="([^"]+)" type="image\/svg\+xml">/.exec(shown.html) ?? []
    const sign = await visitor.send(icon)
    expect(sign.status).toBe(200)
    expect(sign.headers.get('content-type')).toBe('image/svg+xml')
    const strange = ['/page/manifest.json', '/page/..%2Fmain.js', '/embed/9.9.9/benefit-enrolment.js']
    for (const path of [...strange, '/register/constructor/ab'])
      expect((await visitor.send(path)).status).toBe(404)
  })

  test('works below a stage path', async () => {
    await using stage = await startTestService({ basePath: '/stage' })
    const partner = await stage.newPartner()
    await partner.client.prefillUser({ userid: 'u1', ...ada })
    const { linkurl } = await partner.client.createLinkToken({ userid: 'u1', offername: 'starter' })
    const link = `${stage.baseUrl}${linkurl?.split('/stage')[1]}`
    const visitor = newVisitor(new URL(stage.baseUrl).origin)
    await visitor.get(link)
    const shown = await visitor.post(link)
    expect(shown).toMatchObject({ status: 200, view: 'DETAILS_REVIEW', path: '/stage/register/details' })
    const [sheet = ''] = /\/stage\/page\/page\.\w+\.css/.exec(shown.html) ?? []
    expect((await visitor.send(sheet)).status).toBe(200)
    expect((await visitor.post('/stage/register/details')).view).toBe('BENEFITS')
  })
})

describe('a link by email or text message', () => {
  test('shows the first name and nothing else before the birth date', async () => {
    await rig.newPerson({ dob: '1984-06-02' })
    const visitor = newVisitor(rig.service)
    const asked = await visitor.post(await rig.mintLink({ delivery: 'sms' }))
    expect(asked.view).toBe('CHALLENGE')
    expect(asked.html).toContain('Ana María')
    expect(asked.html).not.toMatch(/Ruiz|1984|Brickell|305555/)
    for (const path of ['/register/details', '/register/check', '/register/done'])
      expect((await visitor.get(path)).view).toBe('CHALLENGE')
    const wrong = await visitor.post('/register/challenge', { dobmonth: '6', dobday: '3', dobyear: '1984' })
    expect(wrong.status).toBe(422)
    const right = await visitor.post('/register/challenge', { dobmonth: '6', dobday: '2', dobyear: '1984' })
    expect(right).toMatchObject({ status: 200, view: 'DETAILS_REVIEW' })
  })

  test('ends after five wrong dates, however they are sent', async () => {
    const visitor = newVisitor(rig.service)
    await visitor.post(await rig.mintLink({ delivery: 'email' }))
    const tries = await Promise.all(
      Array.from({ length: 12 }, (_, day) =>
        visitor.post('/register/challenge', { dobmonth: '1', dobday: String(day + 1), dobyear: '1990' }),
      ),
    )
    expect(tries.filter(({ status }) => status === 422).length).toBeLessThanOrEqual(4)
    const late = await visitor.post('/register/challenge', { dobmonth: '3', dobday: '27', dobyear: '1990' })
    expect(late).toMatchObject({ status: 401, view: 'LINK_ENDED' })
    // A person who comes back gets the same page, without personal data.
    const again = await visitor.get('/register')
    expect(again).toMatchObject({ status: 401, view: 'LINK_ENDED' })
    expect(wordsOf(again)).toContain('did not match our records')
    expect(again.html).not.toContain('Ana')
  })
})

describe('signing out', () => {
  test('ends the session in every window, and says so', async () => {
    const visitor = await open()
    const other = newVisitor(rig.service)
    const cookie = `enrolment-sandbox=${visitor.cookies.get('enrolment-sandbox')}`
    expect((await other.get('/register', { cookie })).view).toBe('DETAILS_REVIEW')
    const shown = await visitor.get('/register/details')
    expect(shown.html).toContain('action="/register/leave"')
    const left = await visitor.post('/register/leave')
    expect(left).toMatchObject({ status: 200, view: 'LINK_ENDED' })
    expect(left.html).toContain('You are signed out')
    expect(left.html).not.toContain('Ruiz')
    expect(left.headers.getSetCookie()[0]).toMatch(/^enrolment-sandbox=; .*Max-Age=0$/)
    const after = await other.send('/register/details', { headers: { cookie } })
    expect(after.status).toBe(401)
    expect(await after.text()).toContain('You are signed out')
    expect((await visitor.post('/register/leave')).html).toContain('You are signed out')
  })

  test('leaves what was done before as it is, and is not offered where there is no session', async () => {
    const visitor = await open()
    await visitor.get('/register/details/name')
    await visitor.post('/register/details/name', { firstname: 'Eva', lastname: 'Ruiz' })
    await visitor.post('/register/leave')
    const again = await open()
    expect((await again.get('/register/details')).html).toContain('Eva Ruiz')
    const link = await newVisitor(rig.service).get(await rig.mintLink())
    expect(link.html).not.toContain('/register/leave')
  })
})

describe('the frame', () => {
  const exchange = async (body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(`${rig.service}/embed/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    return { status: response.status, body: (await response.json()) as Record<string, string> }
  }

  test('may be held by the registered origins exactly, and by nobody when the partner is unknown', async () => {
    const policyOf = async (partner: string) => {
      const response = await fetch(`${rig.service}/embed/frame?partner=${partner}`)
      return response.headers.get('content-security-policy')?.split('frame-ancestors ')[1]
    }
    expect(await policyOf(rig.partner.partnerId)).toBe(rig.host)
    for (const unknown of ['', 'x', '019abc12-3456-7def-8123-456789abcdea', '../..', "a'; script-src *"])
      expect(await policyOf(encodeURIComponent(unknown))).toBe("'none'")
  })

  test('gets a session for a token once, and only for an origin that the token allows', async () => {
    const linktoken = await rig.mintToken()
    expect(await exchange({ linktoken, origin: rig.hostile })).toMatchObject({
      status: 403,
      body: { code: 'ORIGIN_NOT_ALLOWED' },
    })
    const all = await Promise.all(Array.from({ length: 20 }, () => exchange({ linktoken, origin: rig.host })))
    expect(all.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(all.filter(({ body }) => body['code'] === 'LINK_TOKEN_ENDED')).toHaveLength(19)
    for (const body of [{}, { linktoken: 7, origin: rig.host }, { linktoken: 'x' }])
      expect((await exchange(body)).status).toBe(401)
    const hosted = (await rig.mintLink()).split('/').at(-1)
    expect((await exchange({ linktoken: hosted, origin: rig.host })).status).toBe(401)
  })

  test('gives a result token that is answered for 24 hours, to its own partner, whatever came of it', async () => {
    const { body } = await exchange({ linktoken: await rig.mintToken(), origin: rig.host })
    const resulttoken = body['resulttoken'] ?? ''
    const exited = { sessionid: body['sessionid'], outcome: 'exited', reference: null, completedat: null }
    expect(await client().exchangeResult({ resulttoken })).toEqual({ ...exited, userid: rig.userid() })
    const stranger = await rig.running.newPartner()
    await expect(stranger.client.exchangeResult({ resulttoken })).rejects.toMatchObject({ status: 404 })
    await expect(
      client().exchangeResult({ resulttoken: resulttoken.replace(/.$/, last => (last === 'a' ? 'b' : 'a')) }),
    ).rejects.toMatchObject({ status: 404 })
    rig.running.advance(23 * 60 * minute)
    expect(await client().exchangeResult({ resulttoken })).toMatchObject(exited)
    rig.running.advance(60 * minute)
    await expect(client().exchangeResult({ resulttoken })).rejects.toMatchObject({ code: 'not_found' })
  })

  test('loads a style sheet of a look only if it can be read', async () => {
    const { status } = await newVisitor(rig.service).send(
      '/page/look.css?look=%7B%22colors%22%3A%7B%22light%22%3A%7B%22accent%22%3A%22red%22%7D%7D%7D',
    )
    expect(status).toBe(400)
  })
})
