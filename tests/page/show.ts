import type { Page } from 'playwright-core'
import { renderPage } from '../../service/src/registration/screens.ts'
import { iconOf } from './fixtures/parts.ts'
import type { Example } from './fixtures/scene.ts'
import type { Rig } from './rig.ts'

/** Shows examples in a page. */
export type Stage = {
  show(example: Example): Promise<void>
}

/**
 * Makes a page show examples as the service shows its views: by the same `renderPage`, with the built style sheet, from
 * the service's origin. The window stays open, so that files are loaded only once.
 */
export async function openStage(page: Page, rig: Rig): Promise<Stage> {
  // The examples have benefits that are not in the demo catalogue.
  await page.route(`${rig.service}/icons/*`, (route, request) =>
    route.fulfill({
      contentType: 'image/svg+xml',
      body: iconOf(new URL(request.url()).pathname.slice('/icons/'.length, -'.svg'.length)),
    }),
  )
  await page.route(`${rig.service}/stage`, route => route.fulfill({ contentType: 'text/html', body: '' }))
  await page.goto(`${rig.service}/stage`)
  return {
    async show({ view, script }) {
      await page.setContent(renderPage(view))
      await page.evaluate(
        "for (const button of document.querySelectorAll('[data-print]')) button.hidden = false",
      )
      if (script) await page.evaluate(script)
    },
  }
}
