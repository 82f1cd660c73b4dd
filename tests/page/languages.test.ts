import { describe, expect, test } from 'vitest'
import { changePartner } from '../../service/src/partners/administer.ts'
import { forAllTests } from '../for-all-tests.ts'
import { startRig } from './rig.ts'
import { newVisitor } from './visitor.ts'

const rig = forAllTests(startRig)
const spanish = { 'accept-language': 'es-MX,es;q=0.9' }
const languageOf = (html: string) => /<html lang="(\w+)"/.exec(html)?.[1]

describe('the language of a link', () => {
  test('is its own, then what the person chose last, then the browser’s, then the partner’s', async () => {
    await rig.newPerson()
    const visitor = newVisitor(rig.service)
    const opened = async (locale: 'en' | 'es' | '', headers = {}) =>
      languageOf((await newVisitor(rig.service).get(await rig.mintLink({ locale }), headers)).html)
    expect(await opened('')).toBe('en')
    expect(await opened('', spanish)).toBe('es')
    expect(await opened('en', spanish)).toBe('en')
    await changePartner(rig.partner.partnerId, { locale: 'es' }, rig.running.manage)
    rig.running.advance(2000)
    expect(await opened('')).toBe('es')
    await visitor.post(await rig.mintLink({ locale: 'es' }))
    await visitor.post('/register/language', { language: 'en', view: 'DETAILS_REVIEW' })
    expect(await opened('')).toBe('en')
    expect(await opened('', spanish)).toBe('en')
    expect(await opened('es')).toBe('es')
  })

  test('is its own in a frame, too, whatever the embedding page asks for', async () => {
    const opened = async (own?: 'en' | 'es') => {
      const linktoken = await rig.mintToken(own ? { locale: own } : {})
      const answer = await fetch(`${rig.service}/embed/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ linktoken, origin: rig.host, locale: 'es' }),
      })
      return (
        answer.headers.get('content-language') ??
        (((await answer.json()) as { html: string }).html.match(/lang="(\w+)"/) ?? [])[1]
      )
    }
    expect([await opened(), await opened('en')]).toEqual(['es', 'en'])
  })

  test('chosen before the link is pressed is kept, too, until the person is erased', async () => {
    const userid = await rig.newPerson()
    const visitor = newVisitor(rig.service)
    const link = await rig.mintLink({ locale: '' })
    await visitor.get(link, spanish)
    await visitor.post(link, { language: 'en' }, spanish)
    expect(languageOf((await visitor.post(link, { locale: 'en' }, spanish)).html)).toBe('en')
    const next = async () =>
      languageOf((await newVisitor(rig.service).get(await rig.mintLink({ locale: '' }), spanish)).html)
    expect(await next()).toBe('en')
    await rig.partner.client.eraseUser({ userid })
    await rig.partner.client.prefillUser({ userid, firstname: 'Ana' })
    expect(await next()).toBe('es')
  })
})
