/// <reference lib="dom" />
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { describe } from 'vitest'

const executablePath = '/usr/bin/chromium'

/** `describe` if Chromium is installed; otherwise the tests are skipped, and the output says so. */
export const describeInBrowser = existsSync(executablePath) ? describe : skipped()

/** A browser of its own, without a profile; its time-outs only catch a hang, on however busy a machine. */
export async function launchBrowser(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-sync',
      '--disable-background-networking',
      '--disable-component-update',
    ],
  })
  // A page that the browser opens itself passes here, too.
  const newContext = browser.newContext.bind(browser)
  browser.newContext = async options => {
    const context = await newContext(options)
    context.setDefaultTimeout(120_000)
    return context
  }
  return browser
}

function skipped() {
  console.warn(
    `\n!!! BROWSER TESTS SKIPPED: there is no Chromium at ${executablePath} (apt-get install chromium) !!!\n`,
  )
  return describe.skip
}
