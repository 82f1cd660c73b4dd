/// <reference lib="dom" />
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { describe } from 'vitest'

const executablePath = '/usr/bin/chromium'

/** `describe` where Chromium is installed; elsewhere the tests are skipped, and that is said aloud. */
export const describeInBrowser = existsSync(executablePath) ? describe : skipped()

/** A browser of its own, without a profile. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
      ...['--disable-background-networking', '--disable-component-update'],
    ],
  })
}

function skipped() {
  console.warn(
    `\n!!! BROWSER TESTS SKIPPED: there is no Chromium at ${executablePath} (apt-get install chromium) !!!\n`,
  )
  return describe.skip
}
