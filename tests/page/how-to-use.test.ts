import { expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { ana, startRig } from './rig.ts'
import { newVisitor, wordsOf } from './visitor.ts'

const rig = forAllTests(() => startRig({ startAt: Date.UTC(2027, 2, 10, 15) }))

/** The part of one benefit on a view. */
function partOf(html: string, name: string): string | undefined {
  return html
    .split('<details id="')
    .find(part => part.startsWith(`held-${name}"`))
    ?.split('</details>')[0]
}

test('a member reads of each benefit what it pays and how it is used, one that ended lately included', async () => {
  const userid = await rig.newPerson('unknown')
  const { client } = rig.partner
  await client.createUser({ userid, ...ana, offername: 'plus', benefits: ['critical', 'vision'] })
  await client.cancelUser({ userid, effective: 'immediate' })
  await client.createUser({ userid, ...ana, offername: 'plus', benefits: ['telehealth'] })
  const visitor = newVisitor(rig.service)
  const link = `${await rig.mintLink({})}?productname=telehealth&redirectto=howtouse`
  await visitor.get(link)
  const overview = await visitor.post(link)
  expect(overview.view).toBe('ALREADY_ENROLLED')
  expect(partOf(overview.html, 'telehealth')).toMatch(
    /^held-telehealth" open>[\s\S]*A doctor is with you[\s\S]*href="tel:18005550144"/,
  )
  expect(partOf(overview.html, 'accident')).toMatch(
    /^held-accident"><summary>[\s\S]*Seaview Mutual[\s\S]*PDF/,
  )
  expect(wordsOf({ ...overview, html: partOf(overview.html, 'critical') ?? '' })).toContain(
    'Coverage ended on March 10, 2027. This is for what happened before, until June 8, 2027.',
  )
  // Nothing says how long after its end the discount may be used.
  expect(partOf(overview.html, 'vision')).toBeUndefined()
})

test('whoever canceled everything reads how to use what ended, as long as the catalogue says', async () => {
  const userid = await rig.newPerson('unknown')
  const { client } = rig.partner
  await client.createUser({ userid, ...ana, offername: 'plus', benefits: ['critical', 'vision'] })
  const visitor = newVisitor(rig.service)
  await client.cancelUser({ userid, effective: 'immediate' })
  const link = `${await rig.mintLink({ userid })}?productname=critical&redirectto=howtouse`
  await visitor.get(link)
  const details = await visitor.post(link)
  expect(details.view).toBe('DETAILS_REVIEW')
  expect(wordsOf(details)).toContain('What you had, and how to use it')
  expect(partOf(details.html, 'critical')).toMatch(
    /^held-critical" open>[\s\S]*for what happened before, until June 8, 2027[\s\S]*href="tel:/,
  )
  expect(partOf(details.html, 'vision')).toBeUndefined()
})
