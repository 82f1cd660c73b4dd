import { expect, test } from 'vitest'
import { errors as declared } from '../../contract/src/index.ts'
import * as client from './index.ts'

const bad = { clientId: 'id', clientSecret: 'secret', tries: 1 }

/** The error with which a call rejects when the service answers like this. */
async function refusal(answer: () => Response | Promise<Response>): Promise<unknown> {
  const isToken = (url: string) => url.endsWith('/oauth2/token')
  const made = client.createClient({
    ...bad,
    baseUrl: 'http://127.0.0.1:1',
    fetch: async url =>
      isToken(String(url))
        ? Response.json({ access_token: 'a', token_type: 'Bearer', expires_in: 3600 })
        : await answer(),
  })
  return made.getUser({ userid: 'u' }).catch((error: unknown) => error)
}

const classOf: Readonly<Record<number, new (...taken: never[]) => Error>> = {
  400: client.InvalidRequestError,
  401: client.AuthenticationError,
  403: client.ForbiddenError,
  404: client.NotFoundError,
  405: client.InvalidRequestError,
  408: client.InvalidRequestError,
  409: client.ConflictError,
  413: client.InvalidRequestError,
  415: client.InvalidRequestError,
  422: client.RuleError,
  429: client.UnavailableError,
  431: client.InvalidRequestError,
  500: client.UnavailableError,
  503: client.UnavailableError,
}

test('each code of the error table rejects with the class of its status, and with its code', async () => {
  for (const [code, { status }] of Object.entries(declared)) {
    const error = await refusal(() => Response.json({ code, detail: 'So it is.', status }, { status }))
    expect(error, code).toBeInstanceOf(classOf[status])
    expect(error).toBeInstanceOf(client.BenefitEnrolmentError)
    expect(client.isBenefitEnrolmentError(error)).toBe(true)
    expect(error).toMatchObject({ code, status })
  }
})

test('what was not answered by the service rejects as a failed connection', async () => {
  const broken = await refusal(() => Promise.reject(new TypeError('fetch failed')))
  const proxy = await refusal(() => new Response('<h1>Bad gateway</h1>', { status: 502 }))
  for (const error of [broken, proxy]) expect(error).toBeInstanceOf(client.ConnectionError)
  expect([broken, proxy].map(error => (error as client.BenefitEnrolmentError).code)).toEqual([
    'network',
    'protocol',
  ])
})

test('a status that this version does not know is still an error of the client', async () => {
  const error = await refusal(() =>
    Response.json({ code: 'teapot', detail: 'Short and stout.' }, { status: 418 }),
  )
  expect(error).toBeInstanceOf(client.InvalidRequestError)
})
