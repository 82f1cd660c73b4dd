import { developerMessages, messageOf } from './errors.ts'
import {
  type Appearance,
  type ErrorCode,
  type EventContent,
  type Exit,
  type Outcome,
  type Success,
  version,
} from './events.ts'
import { hello, portGiven, protocol, type ToFrame, type ToHost } from './protocol.ts'
import { type Shell, showDialog, showInline } from './shell.ts'

/** The parts of an embed that one showing of the page needs. */
export type Setting = {
  readonly service: URL
  readonly partner: string
  readonly token: string | (() => string | Promise<string>)
  readonly container: Element | undefined
  /** The present language and look; both may change while the page is shown. */
  readonly looks: () => {
    readonly locale: 'en' | 'es' | undefined
    readonly appearance: Appearance | undefined
  }
  readonly emit: (content: EventContent) => void
  readonly succeed: (success: Success) => void
  readonly exit: () => void
}

/** One showing of the page, from `open` to its close. */
export type Opening = {
  readonly send: (message: ToFrame) => void
  /** The outcome, and the error if there was one. */
  readonly result: () => Exit
  readonly close: () => void
}

type State = {
  readonly setting: Setting
  shell: Shell | undefined
  port: MessagePort | undefined
  timer: ReturnType<typeof setTimeout> | undefined
  outcome: Outcome
  failure: ErrorCode | undefined
  resulttoken: string | undefined
  /** The first token, which is fetched while the frame loads. */
  firstToken: Promise<string | undefined> | undefined
  renewed: boolean
  ready: boolean
  over: boolean
}

/** Shows the page and exchanges messages with it until it is closed. */
export function startOpening(setting: Setting): Opening {
  const state: State = {
    setting,
    shell: undefined,
    port: undefined,
    timer: undefined,
    outcome: 'exited',
    failure: undefined,
    resulttoken: undefined,
    firstToken: undefined,
    renewed: false,
    ready: false,
    over: false,
  }
  const listen = (event: MessageEvent<unknown>) => greet(state, event)
  addEventListener('message', listen)
  showFrame(state)
  wait(state, 20_000, 'LOAD_TIMEOUT')
  state.firstToken = fetchToken(state)
  return {
    send: message => state.port?.postMessage(message),
    result: () => {
      const { outcome, failure: error, resulttoken } = state
      return { outcome, ...(error && { error }), ...(resulttoken && { resulttoken }) }
    },
    close() {
      state.over = true
      removeEventListener('message', listen)
      clearTimeout(state.timer)
      state.port?.close()
      state.shell?.remove()
    },
  }
}

function showFrame(state: State): void {
  const { service, partner, container, looks, exit } = state.setting
  const { locale } = looks()
  const address = new URL('embed/frame', service)
  address.search = new URLSearchParams({
    partner,
    version,
    protocol: `${protocol}`,
    locale: locale ?? '',
    shown: container ? 'inline' : 'dialog',
  }).toString()
  // A frame that the service does not allow on this origin loads silently and never sends its greeting.
  const loaded = () => !state.port && !state.failure && wait(state, 2_000, 'ORIGIN_NOT_ALLOWED')
  const show = container ? showInline : showDialog
  state.shell = show(container ?? document.body, address.href, { locale, loaded, exit })
}

/** Answers the greeting with a port, but only for the frame created here while it shows the service. */
function greet(state: State, event: MessageEvent<unknown>): void {
  const { service, looks, container } = state.setting
  const frame = state.shell?.frame.contentWindow
  if (!frame || event.source !== frame || event.origin !== service.origin) return
  const { data } = event
  if (typeof data !== 'string' || !/^benefit-enrolment\/\d+ hello$/.test(data)) return
  clearTimeout(state.timer)
  if (data !== hello) {
    fail(state, 'VERSION_MISMATCH')
    return
  }
  state.port?.close()
  const { port1, port2 } = new MessageChannel()
  state.port = port1
  port1.onmessage = ({ data: message }: MessageEvent<ToHost>) => hear(state, message)
  frame.postMessage(portGiven, service.origin, [port2])
  const fetching = state.firstToken ?? fetchToken(state)
  state.firstToken = undefined
  void fetching.then(token => {
    if (token) port1.postMessage({ say: 'start', token, ...looks(), focus: !container } satisfies ToFrame)
  })
}

function hear(state: State, message: ToHost): void {
  const { emit, succeed, exit } = state.setting
  if (message.say === 'needtoken') void renewToken(state)
  else if (message.say === 'error') fail(state, message.code)
  else if (message.say === 'height') state.shell?.setHeight(message.height)
  else if (message.say === 'exit') exit()
  else if (message.say === 'session') state.resulttoken = message.resulttoken
  else if (message.say === 'event') {
    if (message.event.name === 'READY') {
      // A frame that came late is shown after all.
      if (state.failure) state.shell?.say('')
      state.failure = undefined
      state.renewed = false
      state.ready = true
    }
    emit(message.event)
  } else {
    const { outcome, resulttoken, sessionid } = message
    state.outcome = outcome
    succeed({ resulttoken, outcome, sessionid })
  }
}

/** Fetches a new token once: if that one has ended too, a third would not help. A fetch that failed may be repeated. */
async function renewToken(state: State): Promise<void> {
  const mayRenew = typeof state.setting.token === 'function' && !state.renewed
  if (!mayRenew) fail(state, 'LINK_TOKEN_ENDED')
  const token = mayRenew ? await fetchToken(state) : undefined
  state.renewed = !mayRenew || token !== undefined
  const answer: ToFrame = token ? { say: 'token', token } : { say: 'notoken', again: mayRenew }
  state.port?.postMessage(answer)
}

async function fetchToken(state: State): Promise<string | undefined> {
  const { token } = state.setting
  try {
    // Waits until `open` has returned, because `destroy` may follow at once, as in React's StrictMode.
    await undefined
    if (state.over) return undefined
    const fetched = typeof token === 'function' ? await token() : token
    if (state.over) return undefined
    if (typeof fetched === 'string' && fetched) return fetched
  } catch {
    if (state.over) return undefined
  }
  fail(state, 'TOKEN_FETCH_FAILED')
  return undefined
}

function fail(state: State, code: ErrorCode): void {
  const message = messageOf(code, state.setting.looks().locale)
  const developermessage = developerMessages[code]
  state.failure = code
  clearTimeout(state.timer)
  // biome-ignore lint/suspicious/noConsole: where the page cannot be shown, the console is where a developer looks.
  console.error(`benefit-enrolment: ${code}. ${developermessage}`)
  if (!state.ready && code !== 'LINK_TOKEN_ENDED' && code !== 'INTERNAL') state.shell?.say(message)
  state.setting.emit({ name: 'ERROR', code, message, developermessage })
}

function wait(state: State, milliseconds: number, code: ErrorCode): void {
  clearTimeout(state.timer)
  state.timer = setTimeout(fail, milliseconds, state, code)
}
