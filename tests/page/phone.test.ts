// @whole

import { expect, test } from 'vitest'
import type { View } from '../../service/src/registration/screens.ts'
import { forAllTests } from '../for-all-tests.ts'
import { describeInBrowser, launchBrowser } from './browser.ts'
import { examples } from './fixtures/examples.ts'
import { startRig } from './rig.ts'
import { openStage } from './show.ts'

/** The most words that a view has in any of its states, in English. */
const mostWords: Readonly<Record<View['view'], number>> = {
  OPEN: 55,
  CHALLENGE: 80,
  DETAILS_REVIEW: 175,
  DETAILS_EDIT: 164,
  PLAN: 122,
  BENEFITS: 270,
  CHECK_ANSWERS: 380,
  DONE: 132,
  ALREADY_ENROLLED: 180,
  NO_BENEFITS: 65,
  BENEFICIARIES: 115,
  BENEFICIARIES_EDIT: 290,
  SWAP: 130,
  SWAP_CHOOSE: 110,
  SWAP_CONFIRM: 185,
  OFFER_CHANGE: 152,
  OFFER_CONFIRM: 150,
  CANCEL: 122,
  LINK_ENDED: 75,
  PROBLEM: 50,
  FRAME: 40,
}

/** The most pixels that a view is high in any of its states. */
const mostPixels: Partial<Record<View['view'], number>> = { CHECK_ANSWERS: 2200, DONE: 1400 }
const MOST_PIXELS_OF_TEN_BENEFITS = 1800

describeInBrowser('every view on a phone of 360 × 740', () => {
  const rig = forAllTests(startRig)
  const browser = forAllTests(launchBrowser)

  test('has its main button in the first screen, which covers nothing that has the focus; no more words and pixels than allowed, and no identifier of code', async () => {
    const page = await browser.newPage({ viewport: { width: 360, height: 740 }, bypassCSP: true })
    const stage = await openStage(page, rig)
    const faults: string[] = []
    for (const example of examples('en', rig.built)) {
      await stage.show(example)
      const { words, pixels, buttons, covered, identifiers } = await page.evaluate<Seen>(seen)
      const most = mostWords[example.view.view]
      if (words > most) faults.push(`${example.name}: ${words} words, ${most} are allowed`)
      const highest = mostPixels[example.view.view] ?? Number.POSITIVE_INFINITY
      if (pixels > highest) faults.push(`${example.name}: ${pixels} px, ${highest} are allowed`)
      if (buttons.length > 0 && Math.min(...buttons) > 740)
        faults.push(`${example.name}: main button at ${buttons[0]} px`)
      faults.push(...covered.map(found => `${example.name}: the bar covers ${found}`))
      faults.push(...identifiers.map(found => `${example.name}: ${found}`))
    }
    expect(faults).toEqual([])
    await page.close()
  })

  test('has ten benefits to choose from within 1,800 px', async () => {
    const page = await browser.newPage({ viewport: { width: 360, height: 740 }, bypassCSP: true })
    const stage = await openStage(page, rig)
    const found = examples('en', rig.built).find(({ name }) => name === 'benefits')
    if (found?.view.view !== 'BENEFITS') throw new Error('no example has benefits to choose from')
    const { focus: _, ...view } = found.view
    const open = view.cards.filter(({ status }) => status.kind === 'included' || status.kind === 'available')
    expect(open.length).toBeGreaterThan(3)
    const cards = [...open, ...open, ...open].slice(0, 10).map((card, at) => ({
      ...card,
      name: `benefit${at}`,
      status: { kind: at < 2 ? ('included' as const) : ('available' as const) },
    }))
    await stage.show({ name: 'ten benefits', view: { ...view, cards } })
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
  const words = main.innerText.split(/\\s+/).filter(word => word).length
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
