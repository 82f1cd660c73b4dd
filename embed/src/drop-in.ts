import { create, type Embed, type Options } from './create.ts'
import { defineElement } from './element.ts'
import { version } from './events.ts'

/** What the drop-in script puts on the page: `BenefitEnrolment.create`, which knows service and partner by itself. */
export interface DropIn {
  readonly version: string
  create(options: Omit<Options, 'service' | 'partner'> & Partial<Pick<Options, 'service' | 'partner'>>): Embed
}

declare global {
  var BenefitEnrolment: DropIn | undefined
}

const script = document.currentScript
const defaults =
  script instanceof HTMLScriptElement
    ? { service: script.src.replace(/\/embed\/[^/]*\/[^/]*$/, ''), partner: script.dataset['partner'] ?? '' }
    : { service: '', partner: '' }

globalThis.BenefitEnrolment = { version, create: options => create({ ...defaults, ...options }) }
defineElement(defaults)
