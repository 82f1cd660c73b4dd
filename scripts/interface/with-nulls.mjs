// The description with null in each optional field of a request, where the service takes it as not given (docs/contract.md). The
// published one leaves null out for the sake of generated types, so a fuzzer would report what is promised.
//   node scripts/interface/with-nulls.mjs DESCRIPTION >COPY
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

for (const operations of Object.values(description.paths))
  for (const { requestBody } of Object.values(operations))
    for (const { schema } of Object.values(requestBody ? resolve(requestBody).content : {})) takeNulls(schema)
process.stdout.write(JSON.stringify(description))
