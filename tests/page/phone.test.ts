import { expect, test } from 'vitest'
import type { ViewName } from '../../service/src/registration/views/layout.ts'
import { catalogueOf } from '../api/catalogue-of.ts'
import { forAllTests } from '../for-all-tests.ts'
import { describeInBrowser, launchBrowser } from './browser.ts'
import { startRig } from './rig.ts'
import { openStage } from './show.ts'
import { statesIn, statesStartAt } from './states.ts'
import { openLink } from './visitor.ts'

/** The most words that a view has in any of its states, in English, besides the texts to agree to. */
const mostWords: Readonly<Record<ViewName, number>> = {
  OPEN: 55,
  CHALLENGE: 80,
  DETAILS_REVIEW: 220,
  DETAILS_EDIT: 164,
  PLAN: 122,
  BENEFITS: 415,
  CHECK_ANSWERS: 200,
  DONE: 150,
  ALREADY_ENROLLED: 190,
  NO_BENEFITS: 75,
  BENEFICIARIES: 55,
  BENEFICIARIES_EDIT: 245,
  FAMILY_EDIT: 150,
  COVER: 200,
  COVER_CONFIRM: 150,
  SWAP: 275,
  SWAP_CONFIRM: 145,
  OFFER_CHANGE: 200,
  OFFER_CONFIRM: 230,
  CANCEL: 140,
  LINK_ENDED: 85,
  PROBLEM: 50,
  FRAME: 40,
}

/** The most pixels that a view is high in any of its states. */
const mostPixels: Readonly<Record<string, number>> = { CHECK_ANSWERS: 2200, DONE: 1530 }
const MOST_PIXELS_OF_TEN_BENEFITS = 1800

describeInBrowser('every view on a phone of 360 × 740', () => {
  const rig = forAllTests(() => startRig({ startAt: statesStartAt }))
  const browser = forAllTests(launchBrowser)

  test('has its main button in the first screen, which covers nothing that has the focus; no more words and pixels than allowed, and no identifier of code', async () => {
    const page = await browser.newPage({ viewport: { width: 360, height: 740 }, bypassCSP: true })
    const stage = await openStage(page, rig)
    const faults: string[] = []
    const states = await statesIn('en')
    expect(new Set(states.map(({ view }) => view)), 'each view is among the states').toEqual(
      new Set(Object.keys(mostWords)),
    )
    for (const state of states) {
      if (state.view === 'BENEFICIARIES_EDIT') {
        await page.setViewportSize({ width: 320, height: 740 })
        await stage.show(state)
        const { covered } = await page.evaluate<Seen>(seen)
        faults.push(...covered.map(found => `${state.name} at 320 px: the bar covers ${found}`))
        await page.setViewportSize({ width: 360, height: 740 })
      }
      await stage.show(state)
      const { words, pixels, buttons, covered, identifiers } = await page.evaluate<Seen>(seen)
      const most = mostWords[state.view as ViewName]
      if (words > most) faults.push(`${state.name}: ${words} words, ${most} are allowed`)
      const highest = mostPixels[state.view] ?? Number.POSITIVE_INFINITY
      if (pixels > highest) faults.push(`${state.name}: ${pixels} px, ${highest} are allowed`)
      if (buttons.length > 0 && Math.min(...buttons) > 740)
        faults.push(`${state.name}: main button at ${buttons[0]} px`)
      faults.push(...covered.map(found => `${state.name}: the bar covers ${found}`))
      faults.push(...identifiers.map(found => `${state.name}: ${found}`))
    }
    expect(faults).toEqual([])
    await page.close()
  })

  test('has ten benefits to choose from within 1,800 px', async () => {
    const page = await browser.newPage({ viewport: { width: 360, height: 740 }, bypassCSP: true })
    const stage = await openStage(page, rig)
    const names = Array.from({ length: 10 }, (_, at) => `benefit${at}`)
    await rig.running.publish(
      catalogueOf(
        names.map(name => ({ name, displayname: `Benefit ${name.slice(-1)}` })),
        [{ offer: 'starter', rank: 1, fixed: names.slice(0, 2), selectable: names.slice(2), slots: 3 }],
      ),
    )
    rig.running.advance(2000)
    await rig.newPerson()
    const { html } = await (await openLink(rig)).get('/register/benefits')
    await stage.show({ name: 'ten benefits', view: 'BENEFITS', html })
    expect(await page.locator('article').count()).toBe(10)
    expect((await page.evaluate<Seen>(seen)).pixels).toBeLessThanOrEqual(MOST_PIXELS_OF_TEN_BENEFITS)
    await page.close()
  })
})

type Seen = {
  readonly words: number
  readonly pixels: number
  /** Where each main button ends, in pixels from the top of the window. */
  readonly buttons: readonly number[]
  /** What has the focus below the bar that floats. */
  readonly covered: readonly string[]
  readonly identifiers: readonly string[]
}

const seen = `(() => {
  const main = document.querySelector('main') ?? document.body
  const pixels = document.documentElement.scrollHeight
  const wordsOf = part => part.innerText.split(/\\s+/).filter(word => word).length
  const agreed = [...main.querySelectorAll('.consent .text')].map(wordsOf)
  const words = agreed.reduce((left, count) => left - count, wordsOf(main))
  const buttons = [...main.querySelectorAll('.primary, .danger')].filter(button => button.offsetParent)
    .map(button => Math.round(button.getBoundingClientRect().bottom))
  const bar = '.actions, .bottom'
  const covered = [...main.querySelectorAll('a[href], button, input, select, summary')]
    .filter(one => one.checkVisibility() && !one.closest(bar) && !one.matches('[tabindex="-1"]'))
    .filter(one => {
      one.focus()
      const { left, right, top, bottom } = one.getBoundingClientRect()
      return document.elementFromPoint((left + right) / 2, (top + bottom) / 2)?.closest(bar)
    })
    .map(one => one.outerHTML.slice(0, 120))
  for (const apart of main.querySelectorAll('details, code')) apart.remove()
  return { words, pixels, buttons, covered, identifiers: main.innerText.match(/\\b[a-z]+_[a-z_]+\\b|\\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]+/g) ?? [] }
})()`
