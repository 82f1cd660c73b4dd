import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { OperatorError } from '../../operator-error.ts'
import { type Input, type Option, readGiven, valued } from '../command.ts'
import { dataDirOf } from '../data-dir.ts'

/** A partner's credentials, and the service that they are for. */
export type PartnerApi = {
  readonly baseUrl: string
  readonly isSandbox: boolean
  /**
   * Sends one request and returns the content of a 200. Throws OperatorError with the service's words for any other
   * answer, and ServiceAway when the same request may succeed a little later.
   */
  readonly call: (method: Method, path: string, body?: object) => Promise<unknown>
  /** The status of a user, or `undefined` when there is none. Throws as `call` does. */
  readonly statusOf: (userid: string) => Promise<string | undefined>
  /** Sends one request and returns the answer, whatever it is. */
  readonly ask: (method: Method, path: string, body?: object) => Promise<ApiAnswer>
}
type Method = 'GET' | 'POST' | 'DELETE'

/** The service cannot answer now but may a little later: it is being restarted, or has too much to do. */
export class ServiceAway extends OperatorError {
  override name = 'ServiceAway'
}

/** A status and its JSON; `undefined` when there was none. */
type ApiAnswer = { readonly status: number; readonly body: unknown }

const passing = new Set([408, 429, 500, 502, 503, 504])

/** The options of every command that a partner runs. */
export const partnerOptions: Readonly<Record<string, Option>> = {
  'base-url': valued('URL', 'the service (default: BASE_URL, or where the demo was last started)'),
}

/** A partner's credentials, with the names of demo.json, which also says where its service is. */
export type Credentials = {
  readonly clientid: string
  readonly clientsecret: string
  readonly apikey: string
  readonly baseurl?: string
}

/**
 * Opens the API with the partner's credentials: CLIENT_ID, CLIENT_SECRET and API_KEY, or those of the demo partner in
 * the data directory. Throws OperatorError when there are none, or API_KEY cannot be the value of a header.
 */
export function openPartnerApi(input: Input): PartnerApi {
  const credentials = credentialsOf(input)
  const wanted = input.text('base-url') ?? input.environment['BASE_URL']
  const baseUrl = wanted ?? demoOf(input)?.baseurl ?? 'http://127.0.0.1:8080'
  if (!URL.canParse(baseUrl))
    throw new OperatorError('--base-url must be an address like http://127.0.0.1:8080.')
  return connectPartner(baseUrl, credentials)
}

/** The API with these credentials. Nothing is sent before its first use. */
export function connectPartner(baseUrl: string, credentials: Credentials): PartnerApi {
  let token: Promise<string> | undefined
  const send = async (path: string, init: RequestInit): Promise<Response> => {
    try {
      return await fetch(baseUrl.replace(/\/+$/, '') + path, { ...init, redirect: 'manual' })
    } catch {
      throw new ServiceAway(`Nothing answers at ${baseUrl}: start it, or name its address with --base-url.`)
    }
  }
  const foreign = () =>
    new OperatorError(`Another program answers at ${baseUrl}: name the service's address with --base-url.`)
  const issue = async (): Promise<string> => {
    const pair = Buffer.from(`${credentials.clientid}:${credentials.clientsecret}`).toString('base64')
    const answer = await send('/oauth2/token', {
      method: 'POST',
      headers: { authorization: `Basic ${pair}` },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    })
    if (passing.has(answer.status))
      throw new ServiceAway(`${baseUrl} cannot answer now (${answer.status}): try again a little later.`)
    if (answer.status !== 200)
      throw new OperatorError(
        `${baseUrl} refused the credentials (${answer.status}): give those of this service, or its address.`,
      )
    const issued = (await answer.json().catch(() => undefined)) as { access_token?: unknown } | undefined
    if (typeof issued?.access_token !== 'string') throw foreign()
    return issued.access_token
  }
  const ask: PartnerApi['ask'] = async (method, path, body) => {
    for (let isRenewed = false; ; isRenewed = true) {
      token ??= issue()
      // If a token could not be fetched, the next call tries again.
      token.catch(() => {
        token = undefined
      })
      const answer = await send(path, {
        method,
        headers: {
          authorization: `Bearer ${await token}`,
          'x-api-key': credentials.apikey,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      if (answer.status !== 401 || isRenewed)
        return { status: answer.status, body: await answer.json().catch(() => undefined) }
      // A listener may run longer than the hour of its token.
      token = undefined
    }
  }
  const contentOf = ({ status, body }: ApiAnswer, asked: string): unknown => {
    if (status === 200 && body === undefined) throw foreign()
    if (status === 200) return body
    const { code, detail, errors } = (body ?? {}) as {
      code?: string
      detail?: string
      errors?: readonly { message: string }[]
    }
    const Refusal = passing.has(status) ? ServiceAway : OperatorError
    // The detail points at `errors`, which the person who reads the sentence does not see.
    const why = errors?.length
      ? errors.map(({ message }) => message.replace(/\.?$/, '.')).join(' ')
      : (detail ?? '')
    throw new Refusal(`${asked} was refused: ${code ?? status}. ${why}`.trim())
  }
  return {
    baseUrl,
    isSandbox: credentials.clientsecret.includes('_sandbox_'),
    ask,
    async call(method, path, body) {
      return contentOf(await ask(method, path, body), `${method} ${path.split('?')[0]}`)
    },
    async statusOf(userid) {
      const answer = await ask('POST', '/user/account/get', { userid })
      if (answer.status === 404) return undefined
      return (contentOf(answer, 'POST /user/account/get') as { status: string }).status
    },
  }
}

/**
 * The API of a sandbox. Throws OperatorError for live credentials, because commands that change users as a trial must
 * not run there.
 */
export function openSandboxApi(input: Input): PartnerApi {
  const api = openPartnerApi(input)
  if (!api.isSandbox)
    throw new OperatorError(`\`enrolment ${input.command}\` is for a sandbox: these credentials are live.`)
  return api
}

function credentialsOf(input: Input): Credentials {
  const { CLIENT_ID: clientid, CLIENT_SECRET: clientsecret, API_KEY: apikey = '' } = input.environment
  // Fetch takes the space around a value away, and would refuse other such characters without naming the header.
  if (!/^[\x21-\x7e]*$/.test(apikey.trim()))
    throw new OperatorError(
      'API_KEY has a space, a line break or a letter that no key has: set it to the key as it was printed.',
    )
  if (clientid && clientsecret) return { clientid, clientsecret, apikey }
  const demo = demoOf(input)
  if (demo) return demo
  throw new OperatorError(
    `Set CLIENT_ID, CLIENT_SECRET and API_KEY, or run this where ${demoFileOf(input)} is, which \`enrolment dev\` writes.`,
  )
}

function demoFileOf(input: Input): string {
  return join(dataDirOf(input), 'demo.json')
}

/**
 * The demo partner of the sandbox that was last started on this data directory; `undefined` where there is none. Throws
 * OperatorError on a file that cannot be read or is damaged.
 */
function demoOf(input: Input): Credentials | undefined {
  const file = demoFileOf(input)
  if (!existsSync(file)) return undefined
  const text = readGiven(file, `The file ${file}`).toString('utf8')
  try {
    const demo = JSON.parse(text) as Credentials
    const { clientid, clientsecret, apikey, baseurl = '' } = demo
    if ([clientid, clientsecret, apikey, baseurl].every(one => typeof one === 'string')) return demo
  } catch {
    // The same is wrong as with members that are missing.
  }
  throw new OperatorError(`${file} is damaged: delete it; the next start creates a new demo partner.`)
}
