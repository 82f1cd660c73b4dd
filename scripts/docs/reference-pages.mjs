// Generates the reference from the contract: a page for each group of operations, with samples in curl, TypeScript
// and Python.
import {
  commonErrors,
  commonMeanings,
  errors,
  events,
  exampleEvent,
  keyedErrors,
  operations,
  partnerErrors,
  scopes,
  tags,
} from '../../contract/dist/index.js'
import { idOf } from './render.mjs'
import { samplesOf } from './samples.mjs'

const shown = Object.values(operations)
/** Told once, because any operation of a partner can answer them; those of keys only where there is one. */
const everywhere = [...new Set([...partnerErrors, ...keyedErrors, ...commonErrors])]
function pathOf(tag) {
  return `reference/${tag.toLowerCase().replaceAll(' ', '-')}`
}

/** What an operation does, in words: `swapBenefits` is "Swap benefits". */
function nameOf(id) {
  if (id === 'bulk') return 'Send many writes'
  const words = id.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`).replace(/^enrol\b/, 'enroll')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** A link to an operation, named by what it does. */
export function linkTo({ id, tag }) {
  return `[${nameOf(id)}](${pathOf(tag)}#${idOf(nameOf(id))})`
}

/** The pages of the reference: an overview, one page for each tag, and the lists of events and scopes. */
export function referencePages() {
  const pages = [overview(), ...Object.entries(tags).map(tagPage), eventPage(), scopePage()]
  return pages.map(page => ({ group: 'Reference', ...page }))
}

function overview() {
  const lists = Object.entries(tags).map(
    ([tag, about]) =>
      `## ${tag}\n\n${about}\n\n| operation | request | |\n|---|---|---|\n${of(tag)
        .map(one => `| ${linkTo(one)} | \`${one.method} ${one.path}\` | ${one.summary} |`)
        .join('\n')}\n`,
  )
  return {
    path: 'reference',
    name: 'All operations',
    markdown: `# Every operation

You need this when you look up one request: its fields, its answer, its errors. All of it is made from the declarations that the service
runs by. As a machine reads it:
[openapi.json](/openapi.json), [openapi.yaml](/openapi.yaml), and a ready [Postman collection](/postman.json). What
changed: the [change log](/changelog). Also: [events](reference/events-list), [scopes](reference/scopes),
[errors](errors.md), [limits](limits.md). The samples use \`TOKEN\` and \`API_KEY\` as the [quick start](quick-start.md) sets
them.

${lists.join('\n')}
## Errors of every operation

Each operation lists only the errors of its own. Besides these, any can answer:

| code | status | meaning |
|---|---|---|
${everywhere.map(code => `| [\`${code}\`](errors/${code}) | ${errors[code].status} | ${errors[code].title} |`).join('\n')}
`,
  }
}

function tagPage([tag, about]) {
  return {
    path: pathOf(tag),
    name: tag,
    markdown: `# ${tag}\n\n${about}\n\n${of(tag).map(section).join('\n')}`,
  }
}

function of(tag) {
  return shown.filter(operation => operation.tag === tag)
}

function section(operation) {
  const { id, method, path, summary, description, scope, section: source } = operation
  const own = operation.errors.filter(code => !everywhere.includes(code))
  const parts = [
    `## ${nameOf(id)}`,
    `${summary}.`,
    `\`${method} ${path}\`${scope ? ` · scope \`${scope}\`` : ''} · ${sourceLink(source)}`,
    description,
    scope === 'sandbox:control' && 'Exists in a sandbox only.',
    table('Path', fields(operation.params)),
    table('Query', fields(operation.query)),
    table('Headers', headers(operation)),
    table('Body', fields(operation.body)),
    '**Request**',
    ...Object.entries(samplesOf(operation)).map(([language, text]) => fence(language, text)),
    '**Answer 200**',
    table('Fields', fields(operation.reply)),
    replyOf(operation),
    own.length > 0 &&
      `**Errors**: ${own.map(code => `[\`${code}\`](errors/${code})`).join(', ')}, and [those of every operation](reference#errors-of-every-operation).`,
  ]
  return `${parts.filter(Boolean).join('\n\n')}\n`
}

/** The example of an answer: as JSON, a string with its quotes, or a text that is no JSON as it is. */
function replyOf({ path, example }) {
  return path.endsWith('.yaml')
    ? fence('text', example.reply)
    : fence('json', JSON.stringify(example.reply, undefined, 2))
}

function fence(language, text) {
  return `\`\`\`${language}\n${text}\n\`\`\``
}

/** `contract §4, §5` as a link to the first of its sections. */
function sourceLink(source) {
  const [, document, number] = /^(contract|interface) §(\d+)/.exec(source) ?? []
  if (!document) throw new Error(`not a section: ${source}`)
  return `promised in [${source}](${document}.md#section-${number})`
}

function headers({ headers: declared = {}, idempotency }) {
  const rows = Object.entries(declared).map(([name, { description }]) => [
    `\`${name}\``,
    'optional',
    description,
  ])
  if (idempotency === 'keyed')
    rows.push(['`idempotency-key`', 'optional', 'Makes the write [idempotent](idempotency.md) for 24 hours.'])
  return rows
}

function fields(schema, prefix = '') {
  if (!schema) return []
  const choices = choicesOf(schema)
  if (choices && !schema.properties) return choices.flatMap(one => fields(one, prefix))
  if (schema.items && !schema.properties) return fields(schema.items, prefix)
  const seen = new Set()
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    if (seen.has(name)) return []
    seen.add(name)
    const isRequired = schema.required?.includes(name)
    const meaning = field.description ?? (field['x-rule'] ? undefined : commonMeanings[name])
    const rule = [meaning, field['x-rule']].filter(Boolean).join('; ')
    const inner = field.items
      ? fields(field.items, `${prefix}${name}[].`)
      : fields(field, `${prefix}${name}.`)
    return [[`\`${prefix}${name}\`${isRequired ? '' : ' (optional)'}`, typeOf(field), rule], ...inner]
  })
}

function choicesOf({ anyOf, oneOf }) {
  return anyOf ?? oneOf
}

function typeOf(schema) {
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
  if (schema.enum)
    return schema.enum.length > 12
      ? 'one of a list'
      : schema.enum.map(value => `\`${JSON.stringify(value)}\``).join(', ')
  const choices = choicesOf(schema)
  if (choices) return choices.map(typeOf).join(' or ')
  if (schema.items) return `list of ${schema.items.properties ? 'objects' : typeOf(schema.items)}`
  return [schema.type ?? 'anything'].flat().join(' or ')
}

function table(title, rows) {
  if (rows.length === 0) return false
  const line = row => `| ${row.map(cell => cell.replaceAll('|', '\\|').replace(/\s+/g, ' ')).join(' | ')} |`
  return `**${title}**\n\n| field | value | meaning |\n|---|---|---|\n${rows.map(line).join('\n')}`
}

function eventPage() {
  const rows = Object.entries(events).map(([name, when]) => `| \`${name}\` | ${when} |`)
  return {
    path: 'reference/events-list',
    name: 'Every event',
    markdown: `# Every event

Sent by \`POST\` to the addresses you provide, with Basic credentials and an \`Idempotency-Key\` that is the same on
every attempt. Answer with any 2xx status within 15 seconds. How to receive them: [webhooks](webhooks.md); how to read
them: [the event log](events.md).

${fence('json', JSON.stringify(exampleEvent, undefined, 2))}

| event | sent when |
|---|---|
${rows.join('\n')}
`,
  }
}

function scopePage() {
  const rows = Object.entries(scopes).map(([name, use]) => `| \`${name}\` | ${use} |`)
  return {
    path: 'reference/scopes',
    name: 'Scopes',
    markdown: `# Scopes

What an access token allows. A token request without \`scope\` gets all that your client was given: see
[authentication](authentication.md).

| scope | allows to |
|---|---|
${rows.join('\n')}
`,
  }
}
