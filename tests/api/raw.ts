// For requests that no client can send.
import type { PartnerSettings } from '../../service/src/partners/settings.ts'
import { rawRequest, sendRaw } from '../raw-http.ts'
import type { TestPartner, TestService } from '../rig.ts'

/** An answer with everything that a typed client does not return. */
export type Answer = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: unknown
  /** The code of a problem, or the error of the token endpoint. */
  readonly code: string | undefined
}

/** The parts of a request; a header given as undefined is left out. */
export type Sending = {
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
  /** Sent unchanged, in place of `body` as JSON. */
  readonly bytes?: string | Uint8Array<ArrayBuffer>
}

/** Sends one request to a service; the answer is compared with the description. */
export async function send(
  service: TestService,
  method: string,
  path: string,
  sending: Sending = {},
): Promise<Answer> {
  const body = sending.bytes ?? (sending.body === undefined ? undefined : JSON.stringify(sending.body))
  const response = await service.conformance.fetch(service.baseUrl + path, {
    method,
    headers: Object.fromEntries(
      Object.entries(sending.headers ?? {}).filter(([, value]) => value !== undefined),
    ) as Record<string, string>,
    ...(body === undefined ? {} : { body }),
  })
  return answerOf(response.status, response.headers, await response.text())
}

/** Sends a request that fetch would not send: repeated headers, invalid bytes, wrong lengths. */
export async function sendBytes(
  service: TestService,
  request: {
    method: string
    path: string
    headers: readonly (readonly [string, string])[]
    body?: string | Buffer
  },
): Promise<Answer> {
  const { method, path, headers, body } = request
  const stage = new URL(service.baseUrl).pathname.replace(/\/$/, '')
  const raw = await sendRaw(service.baseUrl, rawRequest(method, stage + path, headers, body))
  const answered = new Headers(raw.headers)
  service.conformance.check({ method, path, status: raw.status, headers: answered, text: raw.text })
  return answerOf(raw.status, answered, raw.text)
}

function answerOf(status: number, headers: Headers, text: string): Answer {
  const isJson = /\bjson\b/.test(headers.get('content-type') ?? '')
  const body = isJson ? (JSON.parse(text) as unknown) : undefined
  const { code, error } = (body ?? {}) as { code?: string; error?: string }
  return { status, headers, text, body, code: code ?? error }
}

/** A partner that sends requests without a client. */
export type Caller = {
  readonly partner: TestPartner
  /** The credentials as headers, with a token that has not expired. */
  readonly credentials: () => Promise<Record<string, string>>
  readonly send: (method: string, path: string, sending?: Sending) => Promise<Answer>
  readonly post: (
    path: string,
    body: unknown,
    headers?: Readonly<Record<string, string | undefined>>,
  ) => Promise<Answer>
}

/** Creates a partner, or takes the given one, and sends with its credentials. */
export async function openCaller(
  service: TestService,
  given: PartnerSettings | TestPartner = {},
): Promise<Caller> {
  const partner = 'partnerId' in given ? given : await service.newPartner(given)
  let held: { token: string; at: number } | undefined
  const credentials = async () => {
    if (!held || service.now() - held.at > 1_800_000)
      held = { token: await partner.token(), at: service.now() }
    return { authorization: `Bearer ${held.token}`, 'x-api-key': partner.apiKey }
  }
  const sendIt: Caller['send'] = async (method, path, sending = {}) => {
    const hasBody = sending.body !== undefined || sending.bytes !== undefined
    const headers = {
      ...(await credentials()),
      ...(hasBody ? { 'content-type': 'application/json' } : {}),
      ...sending.headers,
    }
    return send(service, method, path, { ...sending, headers })
  }
  return {
    partner,
    credentials,
    send: sendIt,
    post: (path, body, headers = {}) => sendIt('POST', path, { body, headers }),
  }
}
