import { expect, test } from 'vitest'
import { languages } from '../../service/src/registration/views/say.ts'
import { forAllTests } from '../for-all-tests.ts'
import { demoCatalogue } from '../rig.ts'
import { startRig } from './rig.ts'
import { newVisitor, recordsAgreed, type Shown } from './visitor.ts'

const french = { 'accept-language': 'fr-FR,fr;q=0.9,en;q=0.5' }
const languageOf = ({ html }: Shown) => /<html lang="(\w+)"/.exec(html)?.[1]

const startAt = Date.parse('2027-03-10T15:00:00Z')
/** In this catalogue one consent has a French text. */
const catalogue = demoCatalogue.replace(
  /^ +es: >-\n +Autorizo/m,
  '        fr: J’autorise cette recherche.\n$&',
)
const usual = forAllTests(() => startRig({ startAt }))
const rig = forAllTests(() => startRig({ startAt, drafts: ['fr'], catalogue }))

/** The sentences of the page that stand in English in a document, outside what it marks as English. */
function englishIn({ html }: Shown): string[] {
  const known = languages.get('fr')?.sentences ?? {}
  const english = Object.keys(languages.get('es')?.sentences ?? {})
    .filter(sentence => /\p{L}/u.test(sentence.replace(/\{\d\}/g, '')) && known[sentence] !== sentence)
    .map(sentence => new RegExp(`^${sentence.replace(/[.?()*+$|]/g, '\\$&').replace(/\{\d\}/g, '.+')}$`, 'u'))
  const own = html.replace(/<(\w+)[^>]* lang="en"[^>]*>[\s\S]*?<\/\1>/g, '')
  const texts = [...own.matchAll(/>([^<]+)|"([^"<]+)"/g)].map(([, text = '', value = '']) =>
    (text || value).trim().replace(/&#39;/g, "'"),
  )
  return texts.filter(text => english.some(sentence => sentence.test(text)))
}

test('a walk to the end in French, a draft that is switched on, has no English sentence of the page', async () => {
  await rig.newPerson()
  const visitor = newVisitor(rig.service)
  const link = await rig.mintLink({ locale: '' })
  const seen = [
    await visitor.get(link, french),
    await visitor.post(link, {}, french),
    await visitor.get('/register/details'),
    await visitor.get('/register/benefits'),
    await visitor.post('/register/benefits', { benefit: 'identity' }),
  ]
  seen.push(await visitor.post('/register/enrol', { ...recordsAgreed, 'consent.identity': '2026-01' }))
  for (const shown of seen) {
    expect(languageOf(shown), shown.path).toBe('fr')
    expect(englishIn(shown), shown.path).toEqual([])
  }
  expect(seen.map(({ view }) => view)).toEqual([
    'OPEN',
    'DETAILS_REVIEW',
    'DETAILS_REVIEW',
    'BENEFITS',
    'CHECK_ANSWERS',
    'DONE',
  ])
  expect(seen[3]?.html).toContain('<span lang="en">')
  expect(await rig.partner.client.getUser({ userid: rig.userid() })).toMatchObject({
    consents: [
      { name: 'electronic-records', locale: 'en' },
      { name: 'identity', locale: 'fr' },
    ],
  })
})

test('a draft that is not switched on is not offered, asked for or chosen', async () => {
  await usual.newPerson()
  const visitor = newVisitor(usual.service)
  const link = await usual.mintLink({ locale: '' })
  const opened = await visitor.get(link, french)
  expect(languageOf(opened)).toBe('en')
  expect(opened.html).not.toContain('Français')
  expect(languageOf(await visitor.post(link, { language: 'fr' }, french))).toBe('en')
  expect(languageOf(await visitor.post(link, { locale: 'fr' }, french))).toBe('en')
  expect(
    languageOf(await visitor.post('/register/language', { language: 'fr', view: 'DETAILS_REVIEW' })),
  ).toBe('en')
})
