// Does the main job with a client that another tool generated from /openapi.json: token, prefill, benefits, create,
// event.
import createClient from 'openapi-fetch'
import type { paths } from './interface.js'

const environment = (globalThis as unknown as { process: { env: Record<string, string>; argv: string[] } })
  .process
const [, , baseUrl = ''] = environment.argv
const { CLIENT_ID = '', CLIENT_SECRET = '', API_KEY = '' } = environment.env
const client = createClient<paths>({ baseUrl })

const token = await client.POST('/oauth2/token', {
  body: { grant_type: 'client_credentials' },
  headers: {
    authorization: `Basic ${btoa(`${CLIENT_ID}:${CLIENT_SECRET}`)}`,
    'content-type': 'application/x-www-form-urlencoded',
  },
  bodySerializer: body => new URLSearchParams(body as unknown as Record<string, string>),
})
if (!token.data) throw new Error(JSON.stringify(token.error))
client.use({
  onRequest({ request }) {
    request.headers.set('authorization', `Bearer ${token.data.access_token}`)
    request.headers.set('x-api-key', API_KEY)
    return request
  },
})

const userid = `generated-${Date.now()}`
const prefill = await client.POST('/user/prefill', {
  params: { header: { Version: 'v2', 'Idempotency-Key': userid } },
  body: {
    userid,
    firstname: 'Ada',
    lastname: 'Rivera',
    email: 'ada@example.com',
    dob: '1990-03-27',
    zipcode: '33101',
    address: { state: 'FL' },
  },
})
if (prefill.data !== 'prefill saved') throw new Error(JSON.stringify(prefill.error))
const user = await client.POST('/user/account/create', {
  body: { userid, offername: 'starter', benefits: ['telehealth'] },
})
if (user.data?.status !== 'active') throw new Error(JSON.stringify(user.error))
const benefits = await client.POST('/user/benefits', {
  body: { userid, age: 36, state: 'FL', zipcode: '33101' },
})
const enrolled = (benefits.data ?? []).filter(({ status }) => status === 'enrolled').map(({ name }) => name)
if (enrolled.join() !== 'accident,telehealth') throw new Error(`enrolled in ${enrolled.join()}`)
const log = await client.GET('/events', { params: { query: { userid } } })
const names = (log.data?.events ?? []).map(({ eventname }) => eventname)
if (!names.includes('offer_activiation_successful')) throw new Error(names.join())
const unknown = await client.POST('/user/account/get', { body: { userid: 'nobody' } })
if (unknown.error?.code !== 'user_not_found') throw new Error('an unknown user must be refused')
