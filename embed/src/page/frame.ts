import type { EventContent } from '../events.ts'
import { hello, portGiven, type ToFrame, type ToHost } from '../protocol.ts'
import { offerRetry, show } from './navigate.ts'
import { session } from './session.ts'

/** The service's answer to a link token: a session and its first view, or the reason for a refusal. */
type Opened = {
  readonly handle?: string
  readonly sessionid?: string
  readonly resulttoken?: string
  readonly code?: 'LINK_TOKEN_ENDED' | 'ORIGIN_NOT_ALLOWED' | 'INTERNAL'
  /** The first view, or the page that says what to do instead. */
  readonly html?: string
}

let port: MessagePort | undefined
let hostOrigin = ''
let opened: Opened = {}
let start: Extract<ToFrame, { say: 'start' }> | undefined
let language = document.documentElement.lang
let tokenGiven: ((token: string | undefined) => void) | undefined
/** Whether the host, which gave no token, may give one when it is asked again. */
let mayAskAgain = false

/** Greets the host, accepts a port only from a registered origin, and waits for the token to come through the port. */
export function startFrame(): void {
  const { origins = '', session: sessionurl = '' } = document.getElementById('main')?.dataset ?? {}
  const allowed = origins.split(' ')
  const inDialog = new URLSearchParams(location.search).get('shown') === 'dialog'
  document.documentElement.classList.toggle('dialog', inDialog)
  addEventListener('message', event => {
    if (event.source !== parent || event.data !== portGiven || port) return
    const [given] = event.ports
    if (!given) return
    if (!allowed.includes(event.origin)) return refuse(event.origin)
    hostOrigin = event.origin
    port = given
    port.onmessage = ({ data }: MessageEvent<ToFrame>) => hear(data, sessionurl)
  })
  session.listener = { shown, submitted, offline, renew: () => renew(sessionurl) }
  addEventListener('click', ({ target }) => {
    const button = target instanceof Element ? target.closest('[data-exit],[data-renew]') : null
    if (button?.matches('[data-exit]')) tell({ say: 'exit' })
    else if (button) void renewAndContinue(sessionurl)
  })
  addEventListener('keydown', ({ key }) => {
    if (key === 'Escape' && !document.querySelector('dialog[open]')) tell({ say: 'exit' })
  })
  new ResizeObserver(() => {
    const height = document.getElementById('page')?.offsetHeight ?? 0
    if (height) tell({ say: 'height', height })
  }).observe(document.body)
  if (parent !== window) parent.postMessage(hello, '*')
}

function hear(message: ToFrame, sessionurl: string): void {
  if (message.say === 'start') {
    start = message
    session.mayFocus = message.focus
    void open(sessionurl, message.token)
  } else if (message.say === 'update') {
    update(message)
  } else {
    mayAskAgain = message.say === 'notoken' && message.again === true
    tokenGiven?.(message.say === 'token' ? message.token : undefined)
  }
}

/** Exchanges the token for a session and shows the first view; a token that has ended is renewed once. */
async function open(sessionurl: string, token: string): Promise<void> {
  const first = await exchange(sessionurl, token)
  if (first.code === 'LINK_TOKEN_ENDED') {
    const isRenewed = await renew(sessionurl).catch(() => false)
    return isRenewed ? showFirst() : showOnly(first.html)
  }
  if (first.code) {
    tell({ say: 'error', code: first.code })
    return showOnly(first.html)
  }
  showFirst()
}

async function exchange(sessionurl: string, token: string): Promise<Opened> {
  const { locale } = start ?? {}
  try {
    const response = await fetch(sessionurl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ linktoken: token, origin: hostOrigin, locale }),
      credentials: 'omit',
      cache: 'no-store',
      signal: AbortSignal.timeout(30_000),
    })
    const answer: Opened = await response.json()
    if (!response.ok) return answer.code ? answer : { ...answer, code: 'INTERNAL' }
    opened = answer
    session.handle = answer.handle
    ready(answer)
    return answer
  } catch {
    await new Promise<void>(retry => offerRetry(retry))
    return exchange(sessionurl, token)
  }
}

function ready({ sessionid = '', resulttoken }: Opened): void {
  if (resulttoken) tell({ say: 'session', resulttoken })
  emit({ name: 'READY', sessionid })
}

function showFirst(): void {
  showOnly(opened.html)
}

function showOnly(html: string | undefined): void {
  if (html) show(html)
}

/**
 * Asks the host for a new token and exchanges it for a session; false when there is no new session. Throws when the
 * host could not fetch a token now, so that what was typed stays and the person can try again.
 */
async function renew(sessionurl: string): Promise<boolean> {
  if (session.handle) emit({ name: 'SESSION_EXPIRED' })
  session.handle = undefined
  tell({ say: 'needtoken' })
  const token = await new Promise<string | undefined>(resolve => {
    tokenGiven = resolve
  })
  tokenGiven = undefined
  if (!token && mayAskAgain) throw new TypeError('no token now')
  if (!token) return false
  const answer = await exchange(sessionurl, token)
  if (answer.code) tell({ say: 'error', code: answer.code })
  return !answer.code
}

async function renewAndContinue(sessionurl: string): Promise<void> {
  try {
    if (await renew(sessionurl)) showFirst()
  } catch {
    offerRetry(() => renewAndContinue(sessionurl))
  }
}

function shown(main: HTMLElement): void {
  const { view = '', outcome, error, ended } = main.dataset
  const { lang } = document.documentElement
  if (lang !== language) emit({ name: 'LANGUAGE', locale: lang })
  language = lang
  if (start) start = { ...start, locale: lang }
  emit({ name: 'VIEW', view })
  if (error === 'CONFLICT' || error === 'INTERNAL') tell({ say: 'error', code: error })
  if (ended === 'session' && session.handle) {
    session.handle = undefined
    emit({ name: 'SESSION_EXPIRED' })
  }
  const done = outcomes.find(known => known === outcome)
  if (!done) return
  emit({ name: events[done] })
  const { sessionid = '', resulttoken = '' } = opened
  tell({ say: 'done', outcome: done, sessionid, resulttoken })
}

function submitted(view: string): void {
  emit({ name: 'SUBMIT', view })
}

function offline(): void {
  emit({ name: 'OFFLINE' })
}

/** A change of language submits the page's own language button, so that typed text stays. */
function update({ locale }: Extract<ToFrame, { say: 'update' }>): void {
  const button = document.querySelector<HTMLButtonElement>('button[name=language]')
  if (locale && button?.value === locale) button.form?.requestSubmit(button)
}

function refuse(origin: string): void {
  // biome-ignore lint/suspicious/noConsole: nothing is shown, so the console is where a developer looks.
  console.error(`benefit-enrolment: the origin ${origin} is not registered for this partner.`)
}

function emit(event: EventContent): void {
  tell({ say: 'event', event })
}

function tell(message: ToHost): void {
  port?.postMessage(message)
}

const outcomes = ['enrolled', 'swapped', 'changed', 'cancelled', 'undone'] as const
const events = {
  enrolled: 'ENROLLED',
  swapped: 'SWAPPED',
  changed: 'CHANGED',
  cancelled: 'CANCELLED',
  undone: 'UNDONE',
} as const
