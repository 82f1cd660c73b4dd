import { BenefitEnrolmentError, type ErrorFacts, type FieldProblem } from './error.ts'
import { readRetryAfter } from './retry.ts'

/** A 200 with its JSON, or the error that the answer means. */
export type Answer =
  | { ok: true; value: unknown }
  | { ok: false; error: BenefitEnrolmentError; tokenIsBad: boolean }

/**
 * Reads an answer of the service (contract §12) or of its token endpoint (RFC 6749 §5.2). Anything else becomes an
 * error with code `protocol`, which tells status and media type but nothing of the body. Rejects when the
 * connection breaks off.
 */
export const readAnswer = async (operation: string, response: Response): Promise<Answer> => {
  const mediaType = (response.headers.get('content-type') ?? 'no media type').split(';', 1)[0]?.trim() ?? ''
  const body = await response.text()
  const json = /^application\/(problem\+)?json$/i.test(mediaType) ? parse(body) : undefined
  if (response.status === 200 && json !== undefined) return { ok: true, value: json }

  const facts = {
    operation,
    status: response.status,
    requestId: response.headers.get('request-id') ?? undefined,
    retryAfterMs: readRetryAfter(response.headers.get('retry-after'), Date.now()),
    replayed: isReplayed(response.headers),
  }
  const known = response.status >= 400 ? (readProblem(json) ?? readOAuthError(json)) : undefined
  const error = new BenefitEnrolmentError({ ...facts, ...(known ?? unreadable(response.status, mediaType)) })
  const tokenIsBad =
    error.code === 'unauthorized' &&
    /\berror="invalid_token"/.test(response.headers.get('www-authenticate') ?? '')
  return { ok: false, error, tokenIsBad }
}

/** Whether the service says that it had seen this key with this request before (contract §4). */
export const isReplayed = (headers: Headers): boolean => headers.get('idempotency-replayed') === 'true'

/** The error for a request that got no answer, or one that broke off. */
export const noAnswer = (operation: string, cause: unknown): BenefitEnrolmentError =>
  new BenefitEnrolmentError({
    operation,
    code: 'network',
    detail: 'There was no complete answer; what was sent may have worked. The cause says more.',
    cause,
  })

type Told = Pick<ErrorFacts, 'code' | 'detail' | 'errors' | 'userMessage'> & { requestId?: string }

const readProblem = (json: unknown): Told | undefined => {
  if (!isRecord(json) || typeof json['code'] !== 'string' || typeof json['detail'] !== 'string')
    return undefined
  const { code, detail, errors, usermessage, requestid } = json
  return {
    code,
    detail,
    errors: Array.isArray(errors) ? errors.filter(isFieldProblem) : [],
    userMessage: typeof usermessage === 'string' ? usermessage : undefined,
    ...(typeof requestid === 'string' ? { requestId: requestid } : {}),
  }
}

const readOAuthError = (json: unknown): Told | undefined => {
  if (!isRecord(json) || typeof json['error'] !== 'string') return undefined
  const { error, error_description: description } = json
  return { code: error, detail: typeof description === 'string' ? description : 'No token was issued.' }
}

const unreadable = (status: number, mediaType: string): Told => ({
  code: 'protocol',
  detail:
    `The answer with status ${status} and media type ${mediaType.slice(0, 60)} is not the service's. ` +
    'Check baseUrl and what stands between you and the service.',
})

const parse = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

const isFieldProblem = (item: unknown): item is FieldProblem =>
  isRecord(item) && [item['field'], item['code'], item['message']].every(part => typeof part === 'string')

/** Whether a parsed JSON value is an object with members. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
