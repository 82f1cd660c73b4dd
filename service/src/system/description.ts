import { readFile } from 'node:fs/promises'
import {
  type DescribedService,
  describeInfo,
  describeInterface,
  type InterfaceVersion,
} from '@benefit-enrolment/contract'
import { stringify } from 'yaml'
import { serviceVersion } from '../version.ts'

/** The forms in which a description can be read. */
type DescriptionForm = 'json' | 'yaml'

/** A description whose address and limits are still missing, in the file of the build that holds it. */
type DescriptionTemplate = { readonly file: string; readonly text: string }

type Kind = Pick<DescribedService, 'version' | 'sandbox'>

const versions: readonly InterfaceVersion[] = ['1.0.1', '1.0.2']
const built = new URL('../../dist/docs/', import.meta.url)
/** The service's address in the files of the build. No example of the contract contains it. */
const addressMark = 'https://address-of-this-service.invalid'
const yamlOptions = { aliasDuplicateObjects: false } as const
/**
 * How each form is written, what stands in place of the member `info`, which depends on the service's limits, and between which
 * texts is what only webhooks use: the section, their group, their credentials, their body.
 */
const forms = {
  json: {
    write: (value: object) => JSON.stringify(value),
    infoMark: '"info":null',
    info: (info: object) => `"info":${JSON.stringify(info)}`,
    webhooks: [
      [',{"name":"Deliveries"', '],"paths":'],
      ['"webhooks":{"event":', '"components":{"securitySchemes":'],
      [',"webhookbasic":', '},"schemas":'],
      ['"WebhookEvent":', '"WebhookWithSecret":'],
    ],
  },
  yaml: {
    write: (value: object) => stringify(value, yamlOptions),
    infoMark: 'info: null\n',
    info: (info: object) => stringify({ info }, yamlOptions),
    webhooks: [
      ['\n  - name: Deliveries\n', '\npaths:\n'],
      ['\nwebhooks:\n', '\ncomponents:\n'],
      ['\n    webhookbasic:\n', '\n  schemas:\n'],
      ['\n    WebhookEvent:\n', '\n    WebhookWithSecret:\n'],
    ],
  },
} as const satisfies Record<DescriptionForm, object>

/**
 * All descriptions, for scripts/build-docs.mjs to store. They are written by the build because the first one written as YAML
 * takes 700 ms, which the sender of a request must not be able to cause.
 */
export function descriptionTemplates(): DescriptionTemplate[] {
  return versions.flatMap(version =>
    [false, true].flatMap(sandbox => {
      const template = { ...describeInterface({ baseUrl: addressMark, version, sandbox }), info: null }
      return (['json', 'yaml'] as const).map(form => ({
        file: fileOf(form, { version, sandbox }),
        text: forms[form].write(template),
      }))
    }),
  )
}

/**
 * The description of this service, from the file of the build, whole or without webhooks, with the version of the interface and
 * that of the service; rejects when nothing was built.
 */
export async function readDescription(
  form: DescriptionForm,
  service: DescribedService & { readonly withoutWebhooks?: boolean },
): Promise<string> {
  const template = await readFile(new URL(fileOf(form, service), built), 'utf8')
  const { infoMark, info, webhooks } = forms[form]
  const wanted = service.withoutWebhooks ? webhooks.reduce(cut, template) : template
  return wanted
    .replaceAll(addressMark, () => service.baseUrl)
    .replace(infoMark, () => info({ ...describeInfo(service), 'x-service-version': serviceVersion }))
}

function cut(text: string, [from, to]: readonly [from: string, to: string]): string {
  const start = text.indexOf(from)
  return text.slice(0, start) + text.slice(text.indexOf(to, start))
}

function fileOf(form: DescriptionForm, { version, sandbox }: Kind): string {
  return `openapi-${version}-${sandbox ? 'sandbox' : 'live'}.${form}`
}
