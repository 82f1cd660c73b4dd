/// <reference lib="dom" />
import type { Download, Locator, Page } from 'playwright-core'

/** The most presses of Tab from the beginning of a page to its end. */
const MOST_TABS = 150

/** A page of the console in the hands of somebody without a mouse: keys only, from the first address on. */
export type Keyboard = {
  readonly page: Page
  /** Presses `g` and a letter, and waits for where that leads. */
  readonly go: (key: string) => Promise<void>
  /** Goes to an element by Tab alone, as far as that is. Throws where Tab never gets there. */
  readonly tabTo: (target: Locator) => Promise<void>
  /** Goes to an element and presses Enter, and waits for the page that comes. */
  readonly follow: (target: Locator) => Promise<void>
  /** Goes to a button and presses it, and waits for the file that comes. */
  readonly download: (target: Locator) => Promise<Download>
  /** Takes the file of an address. */
  readonly fetchFile: (path: string) => Promise<Download>
  /** Goes to a field by its label and types, in the place of what is there. */
  readonly type: (label: string | RegExp, text: string) => Promise<void>
  /** Goes to a choice and takes the option of this text, by typing it. */
  readonly choose: (label: string, option: string) => Promise<void>
  /** Presses the button of a form, where there is a reason after saying it, and waits for the page that comes. */
  readonly send: (button: string | RegExp, reason?: string) => Promise<void>
  /** Opens what is folded away, the first of this name. */
  readonly unfold: (summary: string | RegExp) => Promise<void>
  readonly button: (name: string | RegExp) => Locator
  readonly link: (name: string | RegExp) => Locator
}

/** Takes a page into the hands of somebody without a mouse. */
export function openKeyboard(page: Page): Keyboard {
  const press = (key: string) => page.keyboard.press(key)
  const main = page.locator('main')
  const arriving = async (act: () => Promise<void>): Promise<void> => {
    await Promise.all([page.waitForEvent('domcontentloaded'), act()])
  }
  const tabTo = async (target: Locator): Promise<void> => {
    await target.waitFor()
    for (let presses = 0; presses < MOST_TABS; ) {
      const left = await target.evaluate(tabsUntil)
      if (left === 0) return
      // One after the other in the browser, but without a question after each of them.
      await Promise.all(Array.from({ length: left }, () => press('Tab')))
      presses += left
    }
    throw new Error(`Tab does not lead to ${String(target)} of ${page.url()}`)
  }
  const button = (name: string | RegExp) => main.getByRole('button', { name, exact: true })
  return {
    page,
    tabTo,
    button,
    link: name => main.getByRole('link', { name, exact: true }),
    go: key =>
      arriving(async () => {
        await press('g')
        await press(key)
      }),
    follow: async target => {
      await tabTo(target)
      await arriving(() => press('Enter'))
    },
    // Tables of a few rows have no link to their file, and the browser leaves the page where it is.
    fetchFile: async path => {
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.goto(new URL(path, page.url()).href).catch(() => undefined),
      ])
      return file
    },
    download: async target => {
      await tabTo(target)
      const [file] = await Promise.all([page.waitForEvent('download'), press('Enter')])
      return file
    },
    type: async (label, text) => {
      await tabTo(main.getByLabel(label, { exact: true }))
      const isDate = (await main.getByLabel(label, { exact: true }).getAttribute('type')) === 'date'
      if (!isDate) await press('ControlOrMeta+a')
      await page.keyboard.type(text)
    },
    choose: async (label, option) => {
      const select = main.getByLabel(label, { exact: true })
      await tabTo(select)
      await page.keyboard.type(option)
      const chosen = await select.evaluate(
        element => (element as HTMLSelectElement).selectedOptions[0]?.textContent ?? '',
      )
      if (!chosen.startsWith(option)) throw new Error(`${label} has ${chosen} and not ${option}`)
    },
    send: async (name, reason) => {
      const pressed = button(name)
      if (reason !== undefined) {
        await tabTo(
          page
            .locator('main form')
            .filter({ has: page.getByRole('button', { name, exact: true }) })
            .locator('[name=reason]'),
        )
        await page.keyboard.type(reason)
      }
      await tabTo(pressed)
      await arriving(() => press('Enter'))
    },
    unfold: async summary => {
      const target = main.locator('summary', { hasText: summary }).first()
      await tabTo(target)
      await press('Enter')
    },
  }
}

/**
 * How often Tab may be pressed without passing an element: at least once until it has the focus, and then 0. Where it counts too
 * few stops, it is asked again; the focus alone tells that the element is reached.
 */
function tabsUntil(element: Element): number {
  const active = document.activeElement
  if (element === active) return 0
  const stops: Element[] = []
  for (const one of document.querySelectorAll('a[href], button, input, select, textarea, summary')) {
    // Of radio buttons of one name, Tab stops at one alone.
    const isRadio =
      one instanceof HTMLInputElement && one.type === 'radio' && one !== element && one !== active
    if (!isRadio && one.checkVisibility() && !one.matches(':disabled, [tabindex="-1"]')) stops.push(one)
  }
  // Where nothing has the focus, Tab may begin in the middle of the page, as at the fragment of its address.
  const from = active ? stops.indexOf(active) : -1
  return from < 0 ? 1 : Math.max(1, stops.indexOf(element) - from)
}
