import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { everydayOr } from '../long.ts'
import { describeInBrowser, launchBrowser } from './browser.ts'
import { startRig } from './rig.ts'
import { openStage } from './show.ts'
import { statesIn, statesStartAt } from './states.ts'

/**
 * What a screen reader finds in each view, in reading order: the accessibility tree as text, stored in
 * `reading-order/`. After an intended change, `npx vitest run tests/page/reading-order.test.ts -u` stores the new one,
 * to be reviewed like any other change. The Spanish tree has the form of the English one, of which each state is stored
 * whole; of the Spanish text each line is stored once, where it is first read.
 */
describeInBrowser('the reading order of every view', () => {
  const rig = forAllTests(() => startRig({ startAt: statesStartAt }))
  const browser = forAllTests(launchBrowser)

  test.each(everydayOr<readonly ('en' | 'es')[]>(['en'], ['en', 'es']))(
    'is as it was read and kept, in %s',
    async locale => {
      const context = await browser.newContext({ viewport: { width: 390, height: 800 } })
      const page = await context.newPage()
      const stage = await openStage(page, rig)
      const trees: string[] = []
      for (const state of await statesIn(rig, locale)) {
        await stage.show(state)
        // The frame around views is always the same: it is stored with the first view, and with the first view of a
        // session. An open dialog is everything that can be read.
        const hasShell = trees.length === 0 || state.name === 'details-review'
        const isAsked = (await page.locator('dialog[open]').count()) > 0
        const part = page.locator(isAsked ? 'dialog' : hasShell ? 'body' : '#main').first()
        const tree = await part.ariaSnapshot()
        // The time left depends on how long the page has been open.
        const kept = tree
          .replace(/^ *- \/url: .*\n/gm, '')
          .replace(/^( *- timer): .*$/gm, '$1')
          .replace(/BE-\w{4}-\w{4}/g, 'BE-0000-0000')
          .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '00000000-0000-0000-0000-000000000000')
          .replace(/\b1[23]:\d\d( |\u202f)(PM|p\.\s?m\.)/g, '12:00$1$2')
        trees.push(`== ${state.name}\n${kept}\n`)
      }
      await context.close()
      const whole = trees.join('\n')
      if (locale === 'es') expect(formOf(whole)).toEqual(formOf(readFileSync(english, 'utf8')))
      const stored = locale === 'en' ? whole : [...new Set(whole.split('\n'))].join('\n')
      await expect(stored).toMatchFileSnapshot(`reading-order/${locale}.txt`)
    },
  )
})

test('every stored word is American English or our Spanish', () => {
  expect(readFileSync(english, 'utf8')).not.toMatch(
    /\bany more\b|\bcolour|\benrol\b|\benrolment|we send|confirmation here/i,
  )
  const spanish = readFileSync(new URL('reading-order/es.txt', import.meta.url), 'utf8')
  expect(spanish).not.toMatch(/canjear|trocar|Accident coverage|Choose|le enviamos/i)
})

const english = new URL('reading-order/en.txt', import.meta.url)

/** A tree without its words: the depth and the role of each line. */
function formOf(tree: string): readonly string[] {
  return tree
    .split('\n')
    .map(line => (line.startsWith('==') ? line : (/^ *- '?[\w/]+/.exec(line)?.[0].replace("'", '') ?? '')))
}
