type Json = Record<string, unknown>

/** Schemas by their titles: a description contains each once and refers to it everywhere else. */
export type NamedSchemas = {
  /** The schema as plain JSON, with each titled part of it replaced by a reference. */
  readonly refer: (schema: unknown) => Json
  /** All titled schemas so far, by name. */
  readonly all: () => Json
}

/**
 * Collects the titled schemas of a description. Throws when two different schemas have one title: a generated client
 * would have one type for both.
 */
export function collectSchemas(): NamedSchemas {
  const named = new Map<string, { body: Json; text: string }>()
  const refer = (schema: unknown): Json => replace(JSON.parse(JSON.stringify(schema))) as Json
  const replace = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replace)
    if (typeof value !== 'object' || value === null) return value
    const inner = Object.fromEntries(Object.entries(value).map(([name, item]) => [name, replace(item)]))
    const { title } = inner
    if (typeof title !== 'string') return inner
    if (inner['properties']) inner['properties'] = withMeanings(inner['properties'] as Record<string, Json>)
    const text = JSON.stringify(inner)
    const known = named.get(title)
    if (known && known.text !== text) throw new Error(`two different schemas are named ${title}`)
    named.set(title, { body: inner, text })
    return { $ref: `#/components/schemas/${title}` }
  }
  return {
    refer,
    all: () =>
      Object.fromEntries(
        [...named].sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, { body }]) => [name, body]),
      ),
  }
}

/** Adds what the fields mean that do not say it. A reference stays alone, because some tools ignore what is beside it. */
function withMeanings(fields: Record<string, Json>): Json {
  const described = Object.entries(fields).map(([name, field]) => {
    const description = '$ref' in field ? undefined : (field['description'] ?? commonMeanings[name])
    return [name, description === undefined ? field : { ...field, description }]
  })
  return Object.fromEntries(described)
}

/** What fields mean that are named alike in many schemas, where their own does not say it. */
export const commonMeanings: Readonly<Record<string, string>> = {
  userid: "The partner's identifier of the user",
  serviceid: "The service's own identifier of the user, stable until an erasure",
  offer: 'The name of the offer; `""`: none',
  currentofferdetails:
    'The offer in force, with `offer` `""` before the first and after a cancel took effect',
  pendingoffer: 'The offer that is still to start, or null',
  displayname: 'The name to show, in the language of `Accept-Language`',
  startsattimestamp: 'The first instant of the coverage, or null while it is not known',
  endsattimestamp: 'The first instant without the coverage, or null while no end is set',
  benefits: 'The benefits that this is about',
  dependantid: 'Our id of the dependant, kept until the user is erased',
  dependants: 'The dependants of the member',
  webhookid: 'The id of the endpoint',
  eventid: 'The id of the event: its `Idempotency-Key` and `webhook-id` in every delivery',
  eventname: 'The name of the event; ignore names that you do not know',
  sessionid: 'The id of the page session that the link opens',
  client_id: 'Your client id, unless it is sent by HTTP Basic',
  client_secret: 'Your client secret, unless it is sent by HTTP Basic',
  gained: 'Benefits that the change brings',
  lost: 'Benefits that the change ends',
  kept: 'Benefits that stay',
  add: 'Benefits that come in, each in the place of the one at the same position of `remove`',
  remove: 'Benefits that go out',
}
