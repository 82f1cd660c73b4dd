import type { Appearance, EnrolmentEvent, EventContent, Exit, Success } from './events.ts'
import { type Opening, startOpening } from './opening.ts'

/** The options that `update` can change while the page is shown. */
export type Changeable = {
  readonly locale?: 'en' | 'es' | undefined
  /** Accepted without effect, until 2.0: the page wears the partner's own look, which the operator sets. */
  readonly appearance?: Appearance | undefined
}

/** The options of `create` (contract §11). */
export interface Options extends Changeable {
  /**
   * The service's base URL, such as `https://benefits.example`. The drop-in script uses the address from which it
   * was loaded.
   */
  readonly service: string
  /** Your partner id. The drop-in script takes it from its own `data-partner`. */
  readonly partner: string
  /**
   * A link token with `delivery: "embed"`, or a function that fetches one; the function is called again when a
   * token has expired or been used. It is read at each `open`, so a getter may return a newer one.
   */
  readonly token: string | (() => string | Promise<string>)
  readonly onSuccess?: ((success: Success) => void) | undefined
  readonly onExit?: ((exit: Exit) => void) | undefined
  readonly onEvent?: ((event: EnrolmentEvent) => void) | undefined
  /** The element that shows the page; without it the page is shown in a dialog. */
  readonly container?: Element | undefined
}

/** An embed, as `create` returns it. */
export type Embed = {
  /** Shows the page; does nothing while it is shown. Throws after `destroy`. */
  open(): void
  /** Closes the page and calls `onExit`. Submitted answers are kept for the next time. */
  exit(): void
  /** Changes the language; typed text stays. */
  update(changes: Changeable): void
  /** Removes everything (elements, listeners, timers, ports) without calling `onExit`. */
  destroy(): void
}

/**
 * Makes an embed that shows nothing until `open`. Throws a TypeError when service, partner or token is missing or
 * the service's address is not a URL; every later problem is an `ERROR` event.
 */
export function create(options: Options): Embed {
  const { partner, onSuccess, onExit, onEvent, container } = options
  if (!options.service || !partner || !options.token)
    throw new TypeError('BenefitEnrolment.create needs service, partner and token')
  const service = new URL(`${options.service.replace(/\/$/, '')}/`)
  let { locale, appearance } = options
  let destroyed = false
  let opening: Opening | undefined

  const emit = (content: EventContent): void =>
    onEvent?.({ ...content, version: 1, at: new Date().toISOString() })
  const close = (): Opening | undefined => {
    const closed = opening
    opening = undefined
    closed?.close()
    return closed
  }
  const exit = (): void => {
    const result = close()?.result()
    if (!result) return
    emit({ name: 'EXIT', outcome: result.outcome })
    onExit?.(result)
  }
  const looks = () => ({ locale, appearance })
  const succeed = (success: Success): void => onSuccess?.(success)

  return {
    open() {
      if (destroyed) throw new Error('this embed was destroyed')
      if (opening) return
      const { token } = options
      opening = startOpening({ service, partner, token, container, looks, emit, succeed, exit })
      emit({ name: 'OPEN' })
    },
    exit,
    update(changes) {
      locale = changes.locale ?? locale
      appearance = changes.appearance ?? appearance
      opening?.send({ say: 'update', ...changes })
    },
    destroy() {
      destroyed = true
      close()
    },
  }
}
