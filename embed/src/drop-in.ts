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

/** Where there is no document, as when a server renders, there is no tag to read, and nothing to define. */
const script = typeof document === 'undefined' ? null : document.currentScript
const defaults =
  script && 'src' in script
    ? { service: script.src.replace(/\/embed\/[^/]*\/[^/]*$/, ''), partner: script.dataset['partner'] ?? '' }
    : { service: '', partner: '' }

globalThis.BenefitEnrolment = { version, create: options => create({ ...defaults, ...options }) }
defineElement(defaults)
