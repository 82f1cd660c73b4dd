import { expect, test } from 'vitest'
import type { Catalogue } from '../../catalogue/model.ts'
import { html } from '../../http/html.ts'
import type { Partner } from '../../partners/partner.ts'
import { draftView } from './draft-view.ts'
import type { UserImpact } from './impact.ts'
import { addUser, noCounts } from './tally.ts'

const catalogue = { benefits: new Map(), offers: new Map() } as unknown as Catalogue
const user: UserImpact = {
  is: 'member',
  isUnknown: false,
  isMarked: false,
  benefits: { calledoff: ['dental'] },
  offers: {},
}

/** So many partners, the later ones with more users; of each user a pick is called off. */
function viewOf(count: number) {
  const partners = Array.from({ length: count }, (_, index) => {
    const counts = noCounts()
    for (let added = 0; added <= index % 200; added += 1) addUser(counts, user)
    return { partner: { partnerId: `p${index}`, name: `Partner ${index}` } as Partner, counts }
  })
  const impact = { version: 2, follows: 1, today: catalogue, next: catalogue, partners }
  return draftView(html``, { users: 0, impact }).markup
}

test('what a draft would do lists the partners with the most called off, and says that there are more', () => {
  const markup = viewOf(1000)
  expect(markup.match(/href="\/partners\//g)).toHaveLength(100)
  expect(markup.match(/<details>/g)).toHaveLength(20)
  expect(markup).toContain('>Partner 199<')
  expect(markup).not.toContain('>Partner 0<')
  expect(markup).toContain('counts all')
})

test('what a draft would do lists every partner where they are few', () => {
  const markup = viewOf(12)
  expect(markup.match(/href="\/partners\//g)).toHaveLength(12)
  expect(markup.match(/<details>/g)).toHaveLength(12)
  expect(markup).not.toContain('counts all')
})
