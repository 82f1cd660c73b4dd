// @nightly

import { beforeEach, expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { describeInFirefox, launchFirefox } from './firefox.ts'
import { isEnrolled, told, words } from './journey.ts'
import { startRig } from './rig.ts'

describeInFirefox('the hosted page in Firefox', () => {
  const rig = forAllTests(startRig)
  const firefox = forAllTests(launchFirefox)
  beforeEach(() => rig.newPerson().then(() => undefined))

  test.each(['en', 'es'] as const)('leads from the link to enrolled, in %s', async locale => {
    const say = words[locale]
    const page = await firefox.newPage()
    await page.goto(await rig.mintLink({ locale }))
    await page.click('button', say.open)
    await page.click('a', say.changeBirthDate)
    await page.fill(say.day, '31')
    await page.fill(say.month, locale === 'es' ? 'feb' : 'Feb')
    await page.click('button', say.save)
    await page.waitFor('a', say.badBirthDate)
    expect(await page.evaluate('document.title')).toMatch(/^Error: /)
    expect(await page.evaluate('document.activeElement.id')).toBe('problem')
    await page.fill(say.day, '7')
    await page.click('button', say.save)
    await page.waitFor('dd', say.birthDate)
    await page.click('button', say.right)
    await page.click('label', say.choose.replace(/^\S+ /, ''))
    await page.click('button', say.continue)
    await page.click('label', say.records)
    await page.click('button', say.enrol)
    const benefit = say.choose.replace(/^(Choose|Elegir) /, '')
    await page.waitFor('a', `${say.mustAgree}${say.orWithout}: ${benefit}`)
    await page.click('label', say.agree)
    await page.click('button', say.enrol)
    await page.waitFor('h1', say.enrolled)
    expect(await page.evaluate('document.documentElement.lang')).toBe(locale)
    expect(await page.evaluate('document.activeElement.localName')).toBe('h1')
    await isEnrolled(rig, locale)
    expect(await rig.events()).toEqual(told)
  })

  test('signs out, and going back shows nothing of the person', async () => {
    const page = await firefox.newPage()
    await page.goto(await rig.mintLink())
    await page.click('button', words.en.open)
    await page.waitFor('dd', words.en.birthDate.replace('February 7', 'March 27'))
    await page.click('button', 'Sign out')
    await page.waitFor('h1', 'You are signed out')
    await page.evaluate('history.back()')
    await page.waitFor('h1', 'This page is closed')
    expect(await page.evaluate('document.body.textContent.includes("Ruiz")')).toBe(false)
  })
})
