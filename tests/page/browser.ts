/// <reference lib="dom" />
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { describe } from 'vitest'

// The shell is Chromium without what makes windows: it draws and runs the same pages with half of the work.
const whole = '/usr/bin/chromium'
const installed = ['/usr/bin/chromium-headless-shell', whole]
const executablePath = process.env['CHROMIUM'] ?? installed.find(path => existsSync(path))

/** `describe` if Chromium is installed; otherwise the tests are skipped, and the output says so. */
export const describeInBrowser = executablePath === undefined ? skipped() : describe

// A start costs more than most tests, so all files of a worker use one browser. It is kept where a file finds it that has
// loaded its modules anew, and ends with the worker's process.
const kept = globalThis as { browserOfTests?: Promise<Browser> }

/**
 * A browser without a profile, whose `close` closes all that was opened in it. Its time-outs only catch a hang, on however busy
 * a machine.
 */
export async function launchBrowser(): Promise<Browser> {
  const running = await kept.browserOfTests
  if (running?.isConnected()) return running
  kept.browserOfTests = launch().then(keep)
  return kept.browserOfTests
}

/**
 * The whole Chromium, for what depends on it and not on the pages alone; where there is none, the browser of the others. It ends
 * with the file.
 */
export async function launchWholeBrowser(): Promise<Browser> {
  const path = process.env['CHROMIUM'] ?? whole
  if (!existsSync(path)) return launchBrowser()
  return launch(path)
}

async function launch(path = executablePath ?? ''): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: path,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-sync',
      '--disable-background-networking',
      '--disable-component-update',
    ],
    // It would wait for the browser to end in order, and be killed meanwhile.
    handleSIGTERM: false,
  })
  process.once('SIGTERM', () => process.exit())
  // A page that the browser opens itself passes here, too.
  const newContext = browser.newContext.bind(browser)
  browser.newContext = async options => {
    const context = await newContext(options)
    context.setDefaultTimeout(120_000)
    return context
  }
  return browser
}

function keep(browser: Browser): Browser {
  browser.close = async () => {
    await Promise.all(browser.contexts().map(context => context.close()))
  }
  return browser
}

function skipped() {
  console.warn(
    `\n!!! BROWSER TESTS SKIPPED: there is no ${installed.join(' and no ')} (apt-get install chromium-headless-shell) !!!\n`,
  )
  return describe.skip
}
