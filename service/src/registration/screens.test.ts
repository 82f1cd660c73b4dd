import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { formWords } from './screens/beneficiaries/form.ts'
import { cardWords } from './screens/benefits/card.ts'
import { lostWords } from './screens/details/lost-cover.ts'
import { swapWords } from './screens/swap/words.ts'
import { renderPage } from './screens.ts'
import type { Page } from './views/surroundings.ts'
import { textsOf } from './views/texts.ts'

const page: Page = {
  shell: 'hosted',
  locale: 'en',
  zone: 'America/New_York',
  root: '/register',
  script: '/page.js',
  partner: { displayname: 'A & B' },
  help: {},
  stylesheets: ['/page.css'],
  draft: '3',
  icon: '/icon.svg',
}

test('what a person typed is shown as text and never as markup', () => {
  const rendered = renderPage({
    view: 'DETAILS_EDIT',
    page,
    group: 'name',
    details: {},
    kept: { firstname: '"><script>alert(1)</script>', lastname: "' onfocus='x" },
    errors: [{ input: 'lastname', code: 'name_long' }],
  })
  expect(rendered).not.toContain('<script>alert')
  expect(rendered).toContain('value="&quot;&gt;&lt;script&gt;')
  expect(rendered).not.toContain("onfocus='x")
})

test('a fault stands in the title, in the summary and at its input', () => {
  const rendered = renderPage({
    view: 'DETAILS_EDIT',
    page,
    group: 'address',
    details: {},
    errors: [{ input: 'zipcode', code: 'zipcode_invalid' }],
  })
  expect(rendered).toContain('<title>Error: Where do you live? – A &amp; B</title>')
  expect(rendered).toContain('<a href="#zipcode">ZIP code must be 5 or 9 digits, like 33101</a>')
  expect(rendered).toMatch(/id="zipcode-error".*ZIP code must be 5 or 9 digits, like 33101/)
  expect(rendered).toMatch(/<input id="zipcode"[^>]* aria-describedby="zipcode-error" aria-invalid="true">/)
})

test('a fault of a form as a whole leads back to where the choice is made', () => {
  const rendered = renderPage({
    view: 'SWAP_CONFIRM',
    page,
    pairs: [],
    effectiveon: '2026-12-01',
    lockedat: Date.UTC(2026, 10, 30, 5),
    consents: [],
    errors: [{ input: 'form', code: 'benefit_unavailable' }],
  })
  expect(rendered).toContain('<a href="/register/swap">One of the benefits you chose')
})

test('no view has inline style or script, which the policy forbids', () => {
  const rendered = renderPage({ view: 'PROBLEM', page, kind: 'internal', requestid: 'r1' })
  expect(rendered).not.toMatch(/<style|style="|<script>|onclick=/)
})

test('a line of an address is called Urbanization in Puerto Rico', () => {
  const edit = (state: string) =>
    renderPage({
      view: 'DETAILS_EDIT',
      page,
      group: 'address',
      details: { address: { addline1: '', addline2: '', addline3: '', city: '', state, zipcode: '' } },
    })
  expect(edit('PR')).toContain('>Urbanization <span class="optional">')
  expect(edit('FL')).toContain('>Other address details <span class="optional">')
})

test('a member whose benefits have all ended reads so, and not the beginning of a list', () => {
  const paths = { canadd: false, canswap: false, canchangeoffer: false, cancancel: true }
  const view = {
    view: 'ALREADY_ENROLLED',
    page,
    offername: 'Plus',
    benefits: [],
    suggested: [],
    paths,
  } as const
  expect(renderPage(view)).toContain('<p class="lead">Your plan is Plus. You have no benefits right now.</p>')
  expect(renderPage(view)).not.toContain('class="lines"')
})

test('a consent is never ticked beforehand, and carries its version', () => {
  const consent = { name: 'terms', version: '7', title: 'Terms', paragraphs: ['Text'], checked: false }
  const rendered = renderPage({
    view: 'CHECK_ANSWERS',
    page,
    details: {},
    offername: 'Plus',
    benefits: [],
    choosable: false,
    consents: [consent],
  })
  expect(rendered).toMatch(/<input type="checkbox" id="consent-terms" name="consent.terms" value="7">/)
})

test('every text has its own words in both languages', async () => {
  const folder = fileURLToPath(new URL('.', import.meta.url))
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const modules = names.filter(name => /^(?:screens|views)\/(?!.*\.test).*\.ts$/.test(name))
  const exported = await Promise.all(
    modules.map(async name => Object.entries<{ en: unknown; es: unknown }>(await import(join(folder, name)))),
  )
  const words = exported.flat().filter(([, value]) => Object.keys(Object(value)).join() === 'en,es')
  expect(words.length).toBeGreaterThan(25)
  const same = words
    .flatMap(([name, value]) => leaves(value.en, value.es, name))
    .filter(([, one, other]) => one === other)
  expect(same.map(([path]) => path).sort()).toEqual([
    'benefitWords.check.plan',
    'coverageWords.copy.of',
    'coverageWords.copy.of',
    'coverageWords.pdf',
    'memberWords.beneficiaries.share',
    'memberWords.beneficiaries.share',
    'shellWords.shell.errorprefix',
    'shellWords.shell.pagetitle',
    'shellWords.shell.pagetitle',
  ])
})

/** All texts in pairs of two languages; functions are called with the same arguments for both. */
function leaves(one: unknown, other: unknown, path = ''): readonly (readonly [string, string, string])[] {
  if (typeof one === 'string' && typeof other === 'string') return [[path, one, other]]
  if (typeof one === 'function' && typeof other === 'function') {
    return [1, 2].flatMap(count => leaves(one(count, 3, 4), other(count, 3, 4), path))
  }
  const [left, right] = [Object.entries(Object(one)), new Map(Object.entries(Object(other)))]
  expect(left.map(([key]) => key)).toEqual([...right.keys()])
  return left.flatMap(([key, value]) => leaves(value, right.get(key), path ? `${path}.${key}` : key))
}

test('in a Spanish sentence a benefit stands in quotation marks or after a colon, since its article is not known', () => {
  const name = 'Seguro de vida a término'
  const { benefits, coverage, standing } = textsOf({ locale: 'es' })
  const sentences = [
    formWords.es.question(name),
    benefits.status.fullswap(name),
    coverage.price.nolonger('1 de mayo', '$5.00', name),
    lostWords.es.ends(name, '1 de mayo'),
    lostWords.es.ended(name, '1 de mayo'),
    lostWords.es.neverstarts(name),
    standing.notbegun(name),
    cardWords.es.goon(name),
    swapWords.es.goesfor(name),
    swapWords.es.choose(name),
  ]
  for (const sentence of sentences) expect(sentence).toMatch(/(“|: )Seguro de vida a término/)
})
