import { developerMessages, messageOf } from './errors.ts'
import {
  type Appearance,
  type EnrolmentEvent,
  type ErrorCode,
  type EventContent,
  type Exit,
  type Outcome,
  type Success,
  version,
} from './events.ts'
import { hello, portGiven, protocol, type ToFrame, type ToHost } from './protocol.ts'
import { type Shell, showDialog, showInline } from './shell.ts'

/** What may change while the embed is there. */
export interface Changeable {
  readonly locale?: 'en' | 'es' | undefined
  readonly appearance?: Appearance | undefined
}

/** What `create` takes (contract §11). */
export interface Options extends Changeable {
  /** The service's base URL, such as `https://benefits.example`. The drop-in script knows where it came from. */
  readonly service: string
  /** Your partner id; the drop-in script takes it from its own `data-partner`. */
  readonly partner: string
  /** A link token with `delivery: "embed"`, or a function that fetches one; it is called again when one has ended. */
  readonly token: string | (() => string | Promise<string>)
  readonly onSuccess?: ((success: Success) => void) | undefined
  readonly onExit?: ((exit: Exit) => void) | undefined
  readonly onEvent?: ((event: EnrolmentEvent) => void) | undefined
  /** Shows the page inside this element; without it, in a dialog. */
  readonly container?: Element | undefined
}

/** The embed's handle. */
export interface Embed {
  /** Shows the page; nothing happens when it is shown already. Throws after `destroy`. */
  open(): void
  /** Closes the page and calls `onExit`; what was answered is kept for the next time. */
  exit(): void
  /** Changes language or look; what was typed stays. */
  update(changes: Changeable): void
  /** Takes everything away without a call-back: elements, listeners, timers, ports. */
  destroy(): void
}

/**
 * Makes an embed that shows nothing until `open`. Throws a TypeError when service, partner or token are missing or
 * the service's address is none; everything later is an `ERROR` event.
 */
export function create(options: Options): Embed {
  const { token, partner, onSuccess, onExit, onEvent, container } = options
  if (!options.service || !partner || !token)
    throw new TypeError('BenefitEnrolment.create needs service, partner and token')
  const service = new URL(`${options.service.replace(/\/$/, '')}/`)
  let { locale, appearance } = options
  let destroyed = false
  let shell: Shell | undefined
  let port: MessagePort | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let outcome: Outcome = 'exited'
  let failure: ErrorCode | undefined
  let renewed = false
  let ready = false
  let firstToken: Promise<string | undefined> | undefined

  function emit(content: EventContent): void {
    onEvent?.({ ...content, version: 1, at: new Date().toISOString() })
  }

  function fail(code: ErrorCode): void {
    const message = messageOf(code, locale)
    const developermessage = developerMessages[code]
    failure = code
    clearTimeout(timer)
    // biome-ignore lint/suspicious/noConsole: where the page cannot be shown, the console is where a developer looks.
    console.error(`benefit-enrolment: ${code}. ${developermessage}`)
    if (!ready && code !== 'LINK_TOKEN_ENDED' && code !== 'INTERNAL') shell?.say(message)
    emit({ name: 'ERROR', code, message, developermessage })
  }

  function wait(milliseconds: number, code: ErrorCode): void {
    clearTimeout(timer)
    timer = setTimeout(fail, milliseconds, code)
  }

  async function fetchToken(): Promise<string | undefined> {
    const opened = shell
    try {
      await undefined
      if (opened !== shell) return undefined
      const fetched = typeof token === 'function' ? await token() : token
      if (opened !== shell) return undefined
      if (typeof fetched === 'string' && fetched) return fetched
    } catch {
      if (opened !== shell) return undefined
    }
    fail('TOKEN_FETCH_FAILED')
    return undefined
  }

  function send(message: ToFrame): void {
    port?.postMessage(message)
  }

  async function renewToken(): Promise<void> {
    if (typeof token === 'string' || renewed) {
      fail('LINK_TOKEN_ENDED')
      send({ say: 'notoken' })
      return
    }
    renewed = true
    const fresh = await fetchToken()
    send(fresh ? { say: 'token', token: fresh } : { say: 'notoken' })
  }

  function hear({ data }: MessageEvent<ToHost>): void {
    if (data.say === 'needtoken') void renewToken()
    else if (data.say === 'error') fail(data.code)
    else if (data.say === 'height') shell?.setHeight(data.height)
    else if (data.say === 'exit') exit()
    else if (data.say === 'event') {
      if (data.event.name === 'READY') {
        failure = undefined
        renewed = false
        ready = true
      }
      emit(data.event)
    } else if (data.say === 'done') {
      outcome = data.outcome
      const { resulttoken, sessionid } = data
      onSuccess?.({ resulttoken, outcome, sessionid })
    }
  }

  /** Only the frame that we made, showing only the service, is given a port. */
  function greet(event: MessageEvent<unknown>): void {
    const frame = shell?.frame.contentWindow
    if (!frame || event.source !== frame || event.origin !== service.origin) return
    const { data } = event
    if (typeof data !== 'string' || !/^benefit-enrolment\/\d+ hello$/.test(data)) return
    clearTimeout(timer)
    if (data !== hello) {
      fail('VERSION_MISMATCH')
      return
    }
    port?.close()
    const channel = new MessageChannel()
    port = channel.port1
    port.onmessage = hear
    frame.postMessage(portGiven, service.origin, [channel.port2])
    const fetching = firstToken ?? fetchToken()
    firstToken = undefined
    void fetching.then(fetched => {
      if (fetched) send({ say: 'start', token: fetched, locale, appearance, focus: !container })
    })
  }

  function open(): void {
    if (destroyed) throw new Error('this embed was destroyed')
    if (shell) return
    outcome = 'exited'
    failure = undefined
    renewed = false
    ready = false
    const address = new URL('embed/frame', service)
    address.search = new URLSearchParams({
      partner,
      version,
      protocol: `${protocol}`,
      locale: locale ?? '',
      shown: container ? 'inline' : 'dialog',
    }).toString()
    addEventListener('message', greet)
    const loaded = () => !port && !failure && wait(2_000, 'ORIGIN_NOT_ALLOWED')
    shell = (container ? showInline : showDialog)(container ?? document.body, address.href, {
      locale,
      loaded,
      exit,
    })
    wait(20_000, 'LOAD_TIMEOUT')
    firstToken = fetchToken()
    emit({ name: 'OPEN' })
  }

  function close(): void {
    removeEventListener('message', greet)
    clearTimeout(timer)
    port?.close()
    port = undefined
    shell?.remove()
    shell = undefined
  }

  function exit(): void {
    if (!shell) return
    close()
    emit({ name: 'EXIT', outcome })
    onExit?.({ outcome, ...(failure ? { error: failure } : {}) })
  }

  return {
    open,
    exit,
    update(changes) {
      locale = changes.locale ?? locale
      appearance = changes.appearance ?? appearance
      send({ say: 'update', ...changes })
    },
    destroy() {
      destroyed = true
      close()
    },
  }
}
