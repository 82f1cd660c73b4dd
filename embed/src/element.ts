import { create, type Embed, type Options } from './create.ts'
import type { Appearance } from './events.ts'

/** What the element takes when its own attributes do not say. */
export type Defaults = Partial<Pick<Options, 'service' | 'partner'>>

/**
 * Defines `<benefit-enrolment>`; defining it twice changes nothing. Attributes: `service`, `partner`, `locale`,
 * `inline`. Properties: `token`, `appearance`. Methods: `open`, `exit`. Events, each with its `detail`: `success`,
 * `exit`, `event`. With `inline` it shows the page in itself as soon as it has a token, else in a dialog on `open`.
 */
export function defineElement(defaults: Defaults = {}): void {
  if (customElements.get('benefit-enrolment')) return
  customElements.define('benefit-enrolment', elementWith(defaults))
}

/** The element's own part, for typed code. */
export interface BenefitEnrolmentElement extends HTMLElement {
  token: Options['token'] | undefined
  appearance: Appearance | undefined
  open(): void
  exit(): void
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
      const tell = (name: string) => (detail: unknown) =>
        this.dispatchEvent(new CustomEvent(name, { detail }))
      return create({
        service: this.getAttribute('service') ?? defaults.service ?? '',
        partner: this.getAttribute('partner') ?? defaults.partner ?? '',
        token: this.#token ?? '',
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
