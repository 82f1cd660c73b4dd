import { create, type Embed, type Options } from './create.ts'
import type { Appearance, EnrolmentEvent, Exit, Success } from './events.ts'

/** Values for attributes that the element does not have. */
export type Defaults = Partial<Pick<Options, 'service' | 'partner'>>

/**
 * Defines `<benefit-enrolment>`; does nothing when it is defined already, or where there are no custom elements, as
 * on a server. Attributes: `service`, `partner`, `locale`, `inline`. Properties: `token`, `appearance`. Methods:
 * `open`, `exit`. Events, each with its `detail`: `success`, `exit`, `event`. With `inline` the element shows the
 * page inside itself as soon as it has a token, otherwise in a dialog on `open`.
 */
export function defineElement(defaults: Defaults = {}): void {
  if (typeof customElements === 'undefined' || customElements.get('benefit-enrolment')) return
  customElements.define('benefit-enrolment', elementWith(defaults))
}

/** The element's events by name. */
export type BenefitEnrolmentEvents = {
  readonly success: CustomEvent<Success>
  readonly exit: CustomEvent<Exit>
  readonly event: CustomEvent<EnrolmentEvent>
}

/** The type of the element that `document.querySelector('benefit-enrolment')` returns. */
export interface BenefitEnrolmentElement extends HTMLElement {
  addEventListener<Name extends keyof BenefitEnrolmentEvents>(
    name: Name,
    listener: (event: BenefitEnrolmentEvents[Name]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void
  addEventListener(
    name: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void
  token: Options['token'] | undefined
  appearance: Appearance | undefined
  open(): void
  exit(): void
}

declare global {
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface adds members to one declared elsewhere
  interface HTMLElementTagNameMap {
    'benefit-enrolment': BenefitEnrolmentElement
  }
}

function elementWith(defaults: Defaults): CustomElementConstructor {
  return class extends HTMLElement implements BenefitEnrolmentElement {
    static observedAttributes = ['locale']
    #token: Options['token'] | undefined
    #appearance: Appearance | undefined
    #embed: Embed | undefined

    get token() {
      return this.#token
    }

    set token(token) {
      this.#token = token
      if (!this.#embed) this.#showInline()
    }

    get appearance() {
      return this.#appearance
    }

    set appearance(appearance) {
      this.#appearance = appearance
      this.#embed?.update({ appearance })
    }

    connectedCallback() {
      this.#showInline()
    }

    disconnectedCallback() {
      this.#embed?.destroy()
      this.#embed = undefined
    }

    attributeChangedCallback() {
      this.#embed?.update({ locale: this.#locale() })
    }

    open() {
      this.#embed ??= this.#create()
      this.#embed.open()
    }

    exit() {
      this.#embed?.exit()
    }

    #showInline() {
      if (this.isConnected && this.#token && this.hasAttribute('inline')) this.open()
    }

    #locale() {
      const locale = this.getAttribute('locale')
      return locale === 'es' || locale === 'en' ? locale : undefined
    }

    #create(): Embed {
      const newest = () => this.#token ?? ''
      const tell = (name: string) => (detail: unknown) =>
        this.dispatchEvent(new CustomEvent(name, { detail }))
      return create({
        service: this.getAttribute('service') ?? defaults.service ?? '',
        partner: this.getAttribute('partner') ?? defaults.partner ?? '',
        get token() {
          return newest()
        },
        locale: this.#locale(),
        appearance: this.#appearance,
        container: this.hasAttribute('inline') ? this : undefined,
        onSuccess: tell('success'),
        onExit: tell('exit'),
        onEvent: tell('event'),
      })
    }
  }
}
