import type { Browser, FrameLocator, Page } from 'playwright-core'
import { pressIn } from './journey.ts'
import type { Rig } from './rig.ts'

/** What the partner's page heard from the embed: an event by its name, or the end. */
export type Heard = {
  readonly name?: string
  readonly code?: string
  readonly view?: string
  readonly success?: { readonly resulttoken: string; readonly outcome: string; readonly sessionid: string }
  readonly sessionid?: string
  readonly exit?: { readonly outcome: string; readonly error?: string; readonly resulttoken?: string }
}

/** The partner's page, with an embed made from `make` (as source text) and with tokens ready. */
export async function openHost(
  { browser, rig }: { readonly browser: Browser; readonly rig: Rig },
  { path = '/', make = '{}', tokens = 3 }: { path?: string; make?: string; tokens?: number } = {},
): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1100, height: 900 } })
  const page = await context.newPage()
  await page.goto(rig.host + path)
  const store: string[] = []
  while (store.length < tokens) store.push(await rig.mintToken())
  await page.evaluate(`tokens.push(...${JSON.stringify(store)}); make(${make})`)
  return page
}

/** The embed's frame. */
export function frameOf(page: Page): FrameLocator {
  return page.frameLocator('iframe')
}

/** All that the partner's page has heard from the embed. */
export function heard(page: Page): Promise<readonly Heard[]> {
  return page.evaluate<readonly Heard[]>('heard')
}

/** The names of the events that the partner's page has heard. */
export async function names(page: Page): Promise<readonly string[]> {
  return (await heard(page)).flatMap(({ name }) => name ?? [])
}

/** Presses a button in the frame. */
export function press(page: Page, name: string): Promise<void> {
  return pressIn(frameOf(page), name)
}

/** The requests that exchange a token, from now on. */
export function exchangesOf(page: Page): string[] {
  const seen: string[] = []
  page.on('request', request => {
    if (request.url().endsWith('/embed/session')) seen.push(request.url())
  })
  return seen
}

/** Registers the person in the frame. */
export async function enrol(page: Page): Promise<void> {
  await press(page, 'These are right – continue')
  await frameOf(page).getByLabel('Choose Identity protection').check()
  await press(page, 'Continue')
  await frameOf(page).getByLabel('I agree to receive documents electronically').check()
  await frameOf(page).getByLabel('I have read this and I agree').check()
  await press(page, 'Enroll now')
  await frameOf(page).getByRole('heading', { name: 'You are enrolled' }).waitFor()
}
