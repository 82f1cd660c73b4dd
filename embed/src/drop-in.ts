import { create, type Embed, type Options } from './create.ts'
import { defineElement } from './element.ts'
import { version } from './events.ts'

/** The global that the drop-in script defines. Its `create` fills in service and partner from the script's own tag. */
export type DropIn = {
  readonly version: string
  create(options: Omit<Options, 'service' | 'partner'> & Partial<Pick<Options, 'service' | 'partner'>>): Embed
}

declare global {
  var BenefitEnrolment: DropIn | undefined
}

/** Without a document, as in server rendering, there is no tag to read and no element to define. */
const script = typeof document === 'undefined' ? null : document.currentScript
const defaults =
  script && 'src' in script
    ? { service: script.src.replace(/\/embed\/[^/]*\/[^/]*$/, ''), partner: script.dataset['partner'] ?? '' }
    : { service: '', partner: '' }

globalThis.BenefitEnrolment = { version, create: options => create({ ...defaults, ...options }) }
defineElement(defaults)
