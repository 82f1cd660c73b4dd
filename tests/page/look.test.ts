import { beforeAll, expect, test } from 'vitest'
import { changePartner } from '../../service/src/partners/administer.ts'
import { forAllTests } from '../for-all-tests.ts'
import { startRig } from './rig.ts'
import { newVisitor } from './visitor.ts'

const rig = forAllTests(startRig)
beforeAll(async () => {
  await rig.newPerson()
})

function set(settings: Parameters<typeof changePartner>[1]) {
  return changePartner(rig.partner.partnerId, settings, rig.running.manage)
}

/** The style sheets of a page after the page's own, as one text. */
async function lookOf(html: string): Promise<string> {
  const addresses = [...html.matchAll(/<link rel="stylesheet" href="([^"]+)">/g)].map(([, href = '']) => href)
  const sheets = addresses
    .slice(1)
    .map(async one => (await fetch(rig.service + one.replaceAll('&amp;', '&'))).text())
  return (await Promise.all(sheets)).join('\n')
}

const png = Buffer.concat([
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
  Buffer.from(`\0\0\0\rIHDR${'\0'.repeat(17)}\0\0\0\0IEND\xae\x42\x60\x82`, 'latin1'),
])

test('every page of a partner wears its look: before the link is pressed, by email, and in the frame', async () => {
  await set({
    look: {
      colors: '{"light":{"accent":"#5b21b6"},"dark":{"accent":"#c4b5fd"}}',
      radius: '4',
      font: 'rounded',
    },
    logo: png,
  })
  rig.running.advance(2000)
  const visitor = newVisitor(rig.service)
  const link = await rig.mintLink({ delivery: 'email' })
  const opened = await visitor.get(link)
  const asked = await visitor.post(link)
  expect([opened.view, asked.view]).toEqual(['OPEN', 'CHALLENGE'])
  const frame = await (await fetch(`${rig.service}/embed/frame?partner=${rig.partner.partnerId}`)).text()
  for (const html of [opened.html, asked.html, frame]) {
    const look = await lookOf(html)
    expect(look).toContain('--accent:#5b21b6')
    expect(look).toContain('--radius:4px')
    expect(look).toContain('--fonts:"Quicksand"')
    const [, logo = ''] = /url\("\.\.(\/files\/[0-9a-f]{64}\/logo\.png)"\)/.exec(look) ?? []
    expect((await fetch(rig.service + logo)).headers.get('content-type')).toBe('image/png')
  }
})

test('a frame wears the look of its partner', async () => {
  const linktoken = await rig.mintToken()
  const answer = await fetch(`${rig.service}/embed/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ linktoken, origin: rig.host }),
  })
  const { html } = (await answer.json()) as { html: string }
  expect(await lookOf(html)).toMatch(/--radius:4px.*--accent:#5b21b6/)
})

test.each([
  [{ look: { colors: '{"light":{"accent":"#ffd500"}}' } }, 'onaccent on accent (#ffffff and #ffd500)'],
  [{ look: { colors: '{"light":{"glow":"#ffd500"}}' } }, 'light.glow is not known'],
  [{ look: { colors: 'blue' } }, 'colors must be JSON like'],
  [{ look: { radius: '40' } }, 'radius must be a number from 0 to 24'],
  [{ look: { radius: 'round' } }, 'radius must be a number from 0 to 24'],
  [{ look: { font: 'Comic Sans' } }, 'font must be one of system, grotesque'],
  [{ logo: Buffer.from('<svg/>') }, 'is not a PNG or WEBP file, judging by its first bytes'],
  [{ legal: { privacyUrl: 'javascript:alert(1)' } }, '--privacy-url must be an https address'],
  [{ legal: { operatorLine: 'two\nlines' } }, '--operator-line must be one line'],
])('the settings %j are refused: %s', async (settings, sentence) => {
  await expect(set(settings)).rejects.toThrow(sentence)
})

test('a part of the look is taken away by an empty text', async () => {
  await set({ look: { colors: '', radius: '', font: '' }, logo: '' })
  rig.running.advance(2000)
  expect(await lookOf((await newVisitor(rig.service).get(await rig.mintLink())).html)).toBe('')
})

test('privacy notice, terms and the operator stand at the foot, in the language of the page', async () => {
  await set({
    legal: {
      privacyUrl: 'https://harborrides.example/privacy',
      termsUrl: 'https://harborrides.example/terms',
      operatorLine: 'Administered by Tidewater Benefits LLC.',
      operatorLineEs: 'Administrado por Tidewater Benefits LLC.',
    },
  })
  rig.running.advance(2000)
  const visitor = newVisitor(rig.service)
  const link = await rig.mintLink()
  const { html } = await visitor.get(link)
  expect(html).toContain('href="https://harborrides.example/privacy" target="_blank"')
  expect(html).toContain('href="https://harborrides.example/terms" target="_blank"')
  expect(html).toContain('Administered by Tidewater Benefits LLC.')
  expect((await visitor.post(link, { language: 'es' })).html).toContain('Administrado por Tidewater')
})
