// The description as a fuzzer is to read it, who would report what is promised (docs/contract.md): an optional field of a request
// may be null, which the published one leaves out for the sake of generated types, and a key may be malformed, because previews
// and prefills of version 1 ignore it.
//   node scripts/interface/for-fuzzer.mjs DESCRIPTION >COPY
import { readFileSync } from 'node:fs'

const description = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const seen = new Set()

function resolve(schema) {
  return schema.$ref
    ? resolve(
        schema.$ref
          .slice(2)
          .split('/')
          .reduce((found, key) => found[key], description),
      )
    : schema
}

function takeNulls(reference) {
  const schema = resolve(reference)
  if (seen.has(schema)) return
  seen.add(schema)
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    takeNulls(property)
    if (!schema.required?.includes(name)) schema.properties[name] = { anyOf: [property, { type: 'null' }] }
  }
  for (const part of [...(schema.allOf ?? []), ...(schema.oneOf ?? []), ...(schema.anyOf ?? [])])
    takeNulls(part)
  if (schema.items) takeNulls(schema.items)
}

for (const operations of Object.values(description.paths)) {
  for (const { requestBody, parameters = [] } of Object.values(operations)) {
    for (const { schema } of Object.values(requestBody ? resolve(requestBody).content : {})) takeNulls(schema)
    for (const parameter of parameters.map(resolve))
      if (parameter.name === 'Idempotency-Key') parameter.schema = { type: 'string' }
  }
}
process.stdout.write(JSON.stringify(description))
