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
  OPEN: 60,
  CHALLENGE: 80,
  DETAILS_REVIEW: 185,
  DETAILS_EDIT: 170,
  PLAN: 125,
  BENEFITS: 275,
  CHECK_ANSWERS: 395,
  DONE: 145,
  ALREADY_ENROLLED: 195,
  NO_BENEFITS: 65,
  BENEFICIARIES: 140,
  BENEFICIARIES_EDIT: 290,
  SWAP: 130,
  SWAP_CHOOSE: 115,
  SWAP_CONFIRM: 195,
  OFFER_CHANGE: 155,
  OFFER_CONFIRM: 160,
  CANCEL: 125,
  LINK_ENDED: 80,
  PROBLEM: 50,
  FRAME: 40,
}

describeInBrowser('every view on a phone of 360 × 740', () => {
  const rig = forAllTests(startRig)
  const browser = forAllTests(launchBrowser)

  test('has its main button in the first screen, which covers nothing that has the focus; no more words than allowed, and no identifier of code', async () => {
    const page = await browser.newPage({ viewport: { width: 360, height: 740 }, bypassCSP: true })
    const stage = await openStage(page, rig)
    const faults: string[] = []
    for (const example of examples('en', rig.built)) {
      await stage.show(example)
      const { words, buttons, covered, identifiers } = await page.evaluate<Seen>(seen)
      const most = mostWords[example.view.view]
      if (words > most) faults.push(`${example.name}: ${words} words, ${most} are allowed`)
      if (buttons.length > 0 && Math.min(...buttons) > 740)
        faults.push(`${example.name}: main button at ${buttons[0]} px`)
      faults.push(...covered.map(found => `${example.name}: the bar covers ${found}`))
      faults.push(...identifiers.map(found => `${example.name}: ${found}`))
    }
    expect(faults).toEqual([])
    await page.close()
  })
})

type Seen = {
  readonly words: number
  /** Where each main button ends, in pixels from the top of the window. */
  readonly buttons: readonly number[]
  /** What has the focus below the bar that floats. */
  readonly covered: readonly string[]
  readonly identifiers: readonly string[]
}

const seen = `(() => {
  const main = document.querySelector('main') ?? document.body
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
  return { words, buttons, covered, identifiers: main.innerText.match(/\\b[a-z]+_[a-z_]+\\b|\\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]+/g) ?? [] }
})()`
