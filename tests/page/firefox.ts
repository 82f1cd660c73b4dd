import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WebSocket } from 'undici'
import { describe, expect } from 'vitest'

const executablePath = '/usr/bin/firefox-esr'

/** `describe` if Debian's Firefox is installed; otherwise the tests are skipped, and the output says so. */
export const describeInFirefox = existsSync(executablePath) ? describe : skipped()

/** A page in Firefox, driven by WebDriver BiDi as a person would: real clicks, real keys. */
export type FirefoxPage = {
  goto(address: string): Promise<void>
  /** Waits for an element with this text or label, and clicks into its middle. */
  click(kind: Kind, name: string): Promise<void>
  /** Types into the field with this label, in place of its content. */
  fill(label: string, text: string): Promise<void>
  waitFor(kind: Kind, name: string): Promise<void>
  /** The value of an expression. */
  evaluate(expression: string): Promise<unknown>
}

/** The kinds of elements to look for: by their own text, or a field by its label's text. */
export type Kind = 'button' | 'a' | 'h1' | 'label' | 'dd'

/** Firefox of its own, without a screen, with an empty profile. */
export async function launchFirefox(): Promise<{ newPage(): Promise<FirefoxPage>; close(): Promise<void> }> {
  const profile = mkdtempSync(join(tmpdir(), 'enrolment-firefox-'))
  const args = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0']
  const running = spawn(executablePath, args, {
    env: { ...process.env, HOME: profile, MOZ_CRASHREPORTER_DISABLE: '1' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const send = await connect(await addressOf(running))
  await send('session.new', { capabilities: {} })
  return {
    async newPage() {
      const { context } = (await send('browsingContext.create', { type: 'tab' })) as { context: string }
      return pageIn(context, send)
    },
    async close() {
      const gone = new Promise(closed => running.once('exit', closed))
      running.kill()
      await gone
      rmSync(profile, { recursive: true, force: true })
    },
  }
}

type Send = (method: string, params: object) => Promise<unknown>

function addressOf(running: ChildProcess): Promise<string> {
  return new Promise((found, failed) => {
    let said = ''
    running.stderr?.on('data', chunk => {
      said += chunk
      const address = /WebDriver BiDi listening on (ws:\/\/\S+)/.exec(said)?.[1]
      if (address) found(address)
    })
    running.once('exit', () => failed(new Error(`Firefox ended: ${said}`)))
  })
}

async function connect(address: string): Promise<Send> {
  const socket = new WebSocket(`${address}/session`)
  await new Promise<void>((opened, failed) => {
    socket.onopen = () => opened()
    socket.onerror = () => failed(new Error('no connection to Firefox'))
  })
  const waiting = new Map<number, { done: (result: unknown) => void; failed: (error: Error) => void }>()
  socket.onmessage = ({ data }) => {
    const { id, type, result, error, message } = JSON.parse(String(data))
    if (type === 'success') waiting.get(id)?.done(result)
    else if (type === 'error') waiting.get(id)?.failed(new Error(`${error}: ${message}`))
  }
  let last = 0
  return (method, params) =>
    new Promise((done, failed) => {
      last += 1
      waiting.set(last, { done, failed })
      socket.send(JSON.stringify({ id: last, method, params }))
    })
}

function pageIn(context: string, send: Send): FirefoxPage {
  const evaluate = async (expression: string): Promise<unknown> => {
    const wish = { expression: `JSON.stringify(${expression})`, target: { context }, awaitPromise: true }
    const { result } = (await send('script.evaluate', wish)) as { result?: { value?: string } }
    return result?.value === undefined ? undefined : JSON.parse(result.value)
  }
  const perform = (actions: object) => send('input.performActions', { context, actions: [actions] })
  const place = async (kind: Kind, name: string) => {
    const found = () => evaluate(placeOf(kind, name)).catch(() => null)
    await expect.poll(found, { message: `${kind} “${name}”` }).toBeTruthy()
    return (await found()) as { x: number; y: number }
  }
  const click = async (kind: Kind, name: string) => {
    const { x, y } = await place(kind, name)
    await perform({
      type: 'pointer',
      id: 'mouse',
      actions: [
        { type: 'pointerMove', x, y },
        { type: 'pointerDown', button: 0 },
        { type: 'pointerUp', button: 0 },
      ],
    })
  }
  return {
    evaluate,
    click,
    async goto(url) {
      await send('browsingContext.navigate', { context, url, wait: 'complete' })
    },
    async fill(label, text) {
      await click('label', label)
      await evaluate('document.activeElement.select?.()')
      const keys = [...text].flatMap(value => [
        { type: 'keyDown', value },
        { type: 'keyUp', value },
      ])
      await perform({ type: 'key', id: 'keyboard', actions: keys })
    },
    async waitFor(kind, name) {
      await place(kind, name)
    },
  }
}

/** The position of the middle of an element, scrolled into view; null while it does not exist. */
function placeOf(kind: Kind, name: string): string {
  return `(() => {
  const text = element => element.textContent.replace(/\\s+/g, ' ').trim()
  const found = [...document.querySelectorAll(${JSON.stringify(kind)})].find(element =>
    element.getClientRects().length > 0 && (text(element) === ${JSON.stringify(name)} ||
    (${JSON.stringify(kind)} === 'label' && text(element).startsWith(${JSON.stringify(name)}))))
  if (!found || document.getElementById('main')?.ariaBusy === 'true') return null
  found.scrollIntoView({ block: 'center' })
  const { left, top, width, height } = found.getBoundingClientRect()
  return { x: Math.round(left + width / 2), y: Math.round(top + height / 2) }
})()`
}

function skipped() {
  console.warn(
    `\n!!! FIREFOX TESTS SKIPPED: there is no Firefox at ${executablePath} (apt-get install firefox-esr) !!!\n`,
  )
  return describe.skip
}
