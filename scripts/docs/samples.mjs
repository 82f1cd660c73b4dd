// Writes one request in curl, TypeScript and Python from an operation's example.
import { baseMark } from './render.mjs'

function quoted(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** The samples of an operation by language. Only partners' operations have a sample for the client. */
export function samplesOf(operation) {
  const samples = { sh: curl(operation) }
  if (operation.caller === 'partner') samples.ts = typescript(operation)
  samples.python = python(operation)
  return samples
}

function addressOf(operation) {
  const { path, params, query } = operation
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => exampleOf(params.properties[name], name))
  const asked = askedOf(operation).map(name => `${name}=${exampleOf(query.properties[name], name)}`)
  return asked.length > 0 ? `${filled}?${asked.join('&')}` : filled
}

/** The query parameters that a request must have. */
function askedOf({ query }) {
  return query?.required ?? []
}

/** The value in an address: the example of the parameter, or of its type. */
function exampleOf(schema, name) {
  return (
    schema?.examples?.[0] ??
    { userid: 'u-1001', name: 'dental' }[name] ??
    '019aa1b2-0d11-7c00-8a3e-5b6c7d8e9f00'
  )
}

function curl(operation) {
  const { caller, method, example, idempotency } = operation
  const lines = [`curl -X ${method} ${quoted(baseMark + addressOf(operation))}`]
  if (caller === 'client') {
    lines.push('-u "$CLIENT_ID:$CLIENT_SECRET"')
    for (const [name, value] of Object.entries(example.body)) lines.push(`-d ${quoted(`${name}=${value}`)}`)
    return lines.join(' \\\n  ')
  }
  if (caller === 'partner') lines.push('-H "Authorization: Bearer $TOKEN" -H "x-api-key: $API_KEY"')
  if (idempotency === 'prefill') lines.push("-H 'Version: v2'")
  if (idempotency !== 'ignored') lines.push(`-H 'Idempotency-Key: ${operation.id}-1'`)
  if (operation.lines)
    lines.push(
      `-H 'Content-Type: application/x-ndjson' --data-binary ${quoted(JSON.stringify(example.body))}`,
    )
  else if (example.body !== undefined)
    lines.push(`-H 'Content-Type: application/json' -d ${quoted(JSON.stringify(example.body))}`)
  return lines.join(' \\\n  ')
}

function typescript(operation) {
  const { id, example, params, query } = operation
  const properties = { ...params?.properties, ...query?.properties }
  const names = [...Object.keys(params?.properties ?? {}), ...askedOf(operation)]
  const input = {
    ...Object.fromEntries(names.map(name => [name, exampleOf(properties[name], name)])),
    ...example.body,
  }
  const text = JSON.stringify(input, undefined, 2)
    .replace(/"(\w+)":/g, '$1:')
    .replaceAll('"', "'")
  if (operation.lines) return `for await (const answer of client.${id}([${text}])) console.log(answer)`
  return `const answer = await client.${id}(${text})`
}

function python(operation) {
  const { caller, method, example, idempotency } = operation
  const address = JSON.stringify(baseMark + addressOf(operation))
  const given = [`${JSON.stringify(method)}, ${address}`]
  if (caller === 'client') {
    given.push('auth=(client_id, client_secret)', `data=${pythonOf(example.body)}`)
  } else {
    const headers = []
    if (caller === 'partner') headers.push('"Authorization": f"Bearer {token}"', '"x-api-key": api_key')
    if (idempotency === 'prefill') headers.push('"Version": "v2"')
    if (idempotency !== 'ignored') headers.push(`"Idempotency-Key": "${operation.id}-1"`)
    if (operation.lines) headers.push('"Content-Type": "application/x-ndjson"')
    if (headers.length > 0) given.push(`headers={${headers.join(', ')}}`)
    if (example.body !== undefined)
      given.push(
        operation.lines ? `data=json.dumps(${pythonOf(example.body)})` : `json=${pythonOf(example.body)}`,
      )
  }
  return `${operation.lines ? 'import json\n\n' : ''}import requests\n\nanswer = requests.request(\n    ${given.join(',\n    ')},\n)\nanswer.raise_for_status()`
}

/** A value as Python writes it. */
function pythonOf(value) {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) return `[${value.map(pythonOf).join(', ')}]`
  if (typeof value === 'object')
    return `{${Object.entries(value)
      .map(([name, item]) => `${JSON.stringify(name)}: ${pythonOf(item)}`)
      .join(', ')}}`
  return JSON.stringify(value)
}
