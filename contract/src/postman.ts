import type { Operation } from './operation.ts'
import { operations } from './operations.ts'

type Json = Record<string, unknown>

/** These come last, so that one user can go through all operations and a run of the whole collection succeeds. */
const last = ['cancelUser', 'reinstateUser', 'deleteWebhook', 'revokeLinkToken', 'eraseUser', 'revokeToken']

/** The members of an answer that later requests need, as `variable: member of the answer`. */
const kept: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  issueToken: { access_token: 'access_token' },
  createUser: { clock: 'currentofferdetails.updatedat' },
  listStatements: { month: 'statements[0].month' },
  createWebhook: { webhookid: 'webhookid' },
  testWebhook: { eventid: 'eventid' },
  createLinkToken: { sessionid: 'sessionid' },
}

/** Bodies by which each request succeeds after those before it, where the example of the operation would not. */
const bodies: Readonly<Record<string, Json>> = {
  swapBenefits: { userid: '', add: ['identity'], remove: ['telehealth'] },
  declineBenefit: { userid: '', name: 'identity', reason: 'not wanted' },
  previewOfferChange: { userid: '', offername: 'premier' },
  changeCover: { userid: '', name: 'dental', dependants: [] },
  exchangeResult: { sessionid: '{{sessionid}}' },
  advanceClock: { advanceto: '{{advanceto}}' },
}

/**
 * The clock of a sandbox goes forward only, so a second run must know how far the first one moved it. It goes on by an hour; where
 * a month ends, into the next one, because benefits are locked on its last day, wherever the partner is.
 */
const onward = [
  "const at = Date.parse(pm.collectionVariables.get('clock'))",
  'const ahead = new Date(at + 2 * 86400000)',
  'const ends = ahead.getUTCMonth() !== new Date(at - 86400000).getUTCMonth()',
  'const next = ends ? Date.UTC(ahead.getUTCFullYear(), ahead.getUTCMonth(), 2, 12) : at + 3600000',
  "pm.variables.set('advanceto', new Date(next).toISOString())",
]

const KEPT = ['webhookid', 'eventid', 'sessionid', 'month', 'clock']

/** Postman waits for requests that a script has sent, so the request that follows finds the token. */
const authenticate = [
  "if (!pm.collectionVariables.get('access_token') && pm.info.requestName !== 'issueToken') {",
  "  const basic = btoa(pm.variables.get('client_id') + ':' + pm.variables.get('client_secret'))",
  '  pm.sendRequest({',
  "    url: pm.variables.get('base_url') + '/oauth2/token',",
  "    method: 'POST',",
  "    header: { Authorization: 'Basic ' + basic },",
  "    body: { mode: 'urlencoded', urlencoded: [{ key: 'grant_type', value: 'client_credentials' }] },",
  '  }, (error, answer) => {',
  "    if (!error) pm.collectionVariables.set('access_token', answer.json().access_token)",
  '  })',
  '}',
]

/**
 * A Postman collection (v2.1) of every operation, ready to run: set `client_id`, `client_secret` and `api_key`, and
 * each request gets its token, its idempotency key and a user of the collection's own. A run succeeds, and so does the next
 * one, but for the result of a page that nobody has opened. For a live service it leaves out the operations of a sandbox; there
 * the swap is refused on the last day of a month.
 */
export function postmanCollection(options: { baseUrl: string; sandbox: boolean }): Json {
  const shown = (Object.values(operations) as Operation[]).filter(
    operation => options.sandbox || operation.scope !== 'sandbox:control',
  )
  // The clock goes on before anything is changed that a month's end locks.
  const first = shown.filter(({ id }) => id === 'issueToken' || id === 'prefillUser' || id === 'advanceClock')
  const ordered = [
    ...first,
    ...shown.filter(one => !last.includes(one.id) && !first.includes(one)),
    ...last.flatMap(id => shown.filter(one => one.id === id)),
  ]
  const folders = [...new Set(ordered.map(folderOf))]
  return {
    info: {
      name: 'Benefit Enrolment Integration Service',
      description:
        'Set client_id, client_secret and api_key. A live service refuses the swap on the last day of a month.',
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    variable: [
      { key: 'base_url', value: options.baseUrl },
      ...['client_id', 'client_secret', 'api_key', 'access_token', ...KEPT].map(key => ({ key, value: '' })),
      { key: 'userid', value: 'postman-1001' },
    ],
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{access_token}}', type: 'string' }] },
    event: [script('prerequest', authenticate)],
    item: folders.map(name => ({
      name,
      item: ordered.filter(operation => folderOf(operation) === name).map(requestOf),
    })),
  }
}

function folderOf({ id, tag }: Operation): string {
  return last.includes(id) ? 'To end with' : tag
}

function requestOf(operation: Operation): Json {
  const { id, method, path, caller, summary, example } = operation
  const filled = path.replace(/\{(\w+)\}/g, '{{$1}}')
  const query = id === 'undoCover' ? [{ key: 'name', value: 'dental' }] : []
  const raw = [`{{base_url}}${filled}`, ...query.map(({ key, value }) => `${key}=${value}`)].join('?')
  const header: Json[] = []
  if (caller === 'partner') header.push({ key: 'x-api-key', value: '{{api_key}}' })
  if (operation.idempotency === 'prefill') header.push({ key: 'Version', value: 'v2' })
  if (operation.idempotency !== 'ignored') header.push({ key: 'Idempotency-Key', value: '{{$guid}}' })
  const isJson = caller === 'partner' && example.body !== undefined
  if (isJson)
    header.push({ key: 'Content-Type', value: operation.lines ? 'application/x-ndjson' : 'application/json' })
  return {
    name: id,
    event: [
      ...(id === 'advanceClock' ? [script('prerequest', onward)] : []),
      script('test', testsOf(operation)),
    ],
    request: {
      method,
      description: summary,
      header,
      url: {
        ...{ raw, host: ['{{base_url}}'], path: filled.slice(1).split('/') },
        ...(query.length > 0 && { query }),
      },
      ...(isJson && {
        body: { mode: 'raw', raw: bodyOf(operation), options: { raw: { language: 'json' } } },
      }),
      ...(caller === 'client' && { auth: clientAuth, body: formOf(operation) }),
      ...(caller === 'open' && { auth: { type: 'noauth' } }),
    },
  }
}

/** The body of the example, with the collection's own user. */
function bodyOf({ id, example, lines }: Operation): string {
  const body = bodies[id] ?? (example.body as Json)
  if (lines) return `${JSON.stringify(body)}\n`
  const named = body['userid'] === undefined ? body : { ...body, userid: '{{userid}}' }
  return JSON.stringify(named, undefined, 2)
}

const clientAuth = {
  type: 'basic',
  basic: [
    { key: 'username', value: '{{client_id}}', type: 'string' },
    { key: 'password', value: '{{client_secret}}', type: 'string' },
  ],
}

function formOf({ id }: Operation): Json {
  const fields = id === 'issueToken' ? { grant_type: 'client_credentials' } : { token: '{{access_token}}' }
  return { mode: 'urlencoded', urlencoded: Object.entries(fields).map(([key, value]) => ({ key, value })) }
}

/** What is tested of those that may be refused. */
const refusable: Readonly<Record<string, string>> = {
  exchangeResult: "pm.test('nobody has been on the page yet', () => pm.response.to.have.status(404))",
  ...Object.fromEntries(
    ['changeCover', 'undoCover'].map(id => [
      id,
      "pm.test('succeeds, or nobody else can be covered', () => pm.expect(pm.response.code).to.be.oneOf([200, 422]))",
    ]),
  ),
}

function testsOf({ id }: Operation): string[] {
  const lines = [
    refusable[id] ?? "pm.test('succeeds', () => pm.response.to.be.success)",
    "pm.test('has a request id', () => pm.response.to.have.header('Request-Id'))",
  ]
  for (const [variable, member] of Object.entries(kept[id] ?? {}))
    lines.push(
      `if (pm.response.code === 200) pm.collectionVariables.set('${variable}', pm.response.json().${member})`,
    )
  if (id === 'revokeToken') lines.push("pm.collectionVariables.unset('access_token')")
  return lines
}

function script(listen: 'prerequest' | 'test', exec: readonly string[]): Json {
  return { listen, script: { type: 'text/javascript', exec } }
}
