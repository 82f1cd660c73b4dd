import type { Page } from 'playwright-core'
import type { Rig } from './rig.ts'
import type { State } from './states.ts'

/** Shows states in a page. */
export type Stage = {
  show(state: State): Promise<void>
}

/**
 * Makes a page show states as the service answered them, with its files, from its origin. The window stays open, so that
 * files are loaded only once.
 */
export async function openStage(page: Page, rig: Rig): Promise<Stage> {
  await page.route(`${rig.service}/stage`, route => route.fulfill({ contentType: 'text/html', body: '' }))
  await page.goto(`${rig.service}/stage`)
  return {
    async show({ html, script }) {
      // The script would count down the session, and speak to the service.
      await page.setContent(html.replace(/<script src=[^>]*><\/script>/, ''))
      await page.evaluate(
        "for (const button of document.querySelectorAll('[data-print]')) button.hidden = false",
      )
      if (script) await page.evaluate(script)
    },
  }
}
