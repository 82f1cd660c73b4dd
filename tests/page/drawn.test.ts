import { describe, expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { ana, startRig } from './rig.ts'
import { openLink } from './visitor.ts'

const rig = forAllTests(startRig)

describe('a form that is not taken', () => {
  test('shows what was typed as text and never as markup', async () => {
    await rig.newPerson()
    const visitor = await openLink(rig)
    await visitor.get('/register/details/name')
    const { html, status } = await visitor.post('/register/details/name', {
      firstname: '"><script>alert(1)</script>',
      lastname: `' onfocus='x${'x'.repeat(100)}`,
    })
    expect(status).toBe(422)
    expect(html).not.toContain('<script>alert')
    expect(html).toContain('value="&quot;&gt;&lt;script&gt;')
    expect(html).not.toContain("onfocus='x")
  })

  test('has the fault in the title, in the summary and at its input', async () => {
    await rig.newPerson()
    const visitor = await openLink(rig)
    await visitor.get('/register/details/address')
    const { html } = await visitor.post('/register/details/address', { ...ana.address, zipcode: '3' })
    expect(html).toContain('<title>Error: Where do you live? – Harbor Rides</title>')
    expect(html).toContain('<a href="#zipcode">ZIP code must be 5 or 9 digits, like 33101</a>')
    expect(html).toMatch(/id="zipcode-error".*ZIP code must be 5 or 9 digits, like 33101/)
    expect(html).toMatch(/<input id="zipcode"[^>]* aria-describedby="zipcode-error" aria-invalid="true">/)
  })
})

test('no view has inline style or script, which the policy forbids', async () => {
  await rig.newPerson()
  const visitor = await openLink(rig)
  for (const path of ['details', 'benefits', 'nowhere'])
    expect((await visitor.get(`/register/${path}`)).html).not.toMatch(/<style|style="|<script>|onclick=/)
})

test.each([
  ['PR', 'Urbanization'],
  ['FL', 'Other address details'],
] as const)('a line of an address in %s is called %s', async (state, label) => {
  await rig.newPerson({ address: { ...ana.address, state } })
  const { html } = await (await openLink(rig)).get('/register/details/address')
  expect(html).toContain(`>${label} <span class="optional">`)
})

test('a consent is never ticked beforehand, and carries its version', async () => {
  await rig.newPerson()
  const visitor = await openLink(rig)
  await visitor.get('/register/benefits')
  const { html } = await visitor.post('/register/benefits', { benefit: 'identity' })
  expect(html).toMatch(
    /<input type="checkbox" id="consent-identity" name="consent.identity" value="2026-01">/,
  )
})
