import type { Appearance, EnrolmentEvent, EventContent, Exit, Success } from './events.ts'
import { type Opening, startOpening } from './opening.ts'

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
