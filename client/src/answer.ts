import type { BenefitEnrolmentError, ErrorFacts } from './error.ts'
import { errorOf } from './error-classes.ts'
import type { FieldProblem } from './generated.ts'
import { readRetryAfter } from './retry.ts'

/** A 200 with its JSON, or the error that the answer stands for. */
export type Answer =
  | { ok: true; value: unknown }
  | { ok: false; error: BenefitEnrolmentError; tokenIsBad: boolean }

/**
 * Reads an answer of the service (contract §12) or of its token endpoint (RFC 6749 §5.2). Anything else becomes an
 * error with code `protocol`, which contains status and media type but nothing of the body. Rejects when the connection
 * breaks off.
 */
export async function readAnswer(operation: string, response: Response): Promise<Answer> {
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
  const error = errorOf({ ...facts, ...(known ?? unreadable(response.status, mediaType)) })
  const tokenIsBad =
    error.code === 'unauthorized' &&
    /\berror="invalid_token"/.test(response.headers.get('www-authenticate') ?? '')
  return { ok: false, error, tokenIsBad }
}

/** Whether the service says that it has seen this key with this request before (contract §4). */
export function isReplayed(headers: Headers): boolean {
  return headers.get('idempotency-replayed') === 'true'
}

/** The error for a request that got no answer, or an incomplete one. */
export function noAnswer(operation: string, cause: unknown): BenefitEnrolmentError {
  return errorOf({
    operation,
    code: 'network',
    detail: 'There was no complete answer; what was sent may have worked. The cause says more.',
    cause,
  })
}

type ProblemFacts = Pick<ErrorFacts, 'code' | 'detail' | 'errors' | 'userMessage'> & { requestId?: string }

function readProblem(json: unknown): ProblemFacts | undefined {
  if (!isRecord(json) || typeof json['code'] !== 'string' || typeof json['detail'] !== 'string')
    return undefined
  const { code, detail, errors, usermessage, requestid } = json
  return {
    code,
    detail,
    errors: Array.isArray(errors) ? errors.filter(isFieldProblem) : [],
    userMessage: typeof usermessage === 'string' ? usermessage : undefined,
    ...(typeof requestid === 'string' && { requestId: requestid }),
  }
}

function readOAuthError(json: unknown): ProblemFacts | undefined {
  if (!isRecord(json) || typeof json['error'] !== 'string') return undefined
  const { error, error_description: description } = json
  return { code: error, detail: typeof description === 'string' ? description : 'No token was issued.' }
}

function unreadable(status: number, mediaType: string): ProblemFacts {
  return {
    code: 'protocol',
    detail:
      `The answer with status ${status} and media type ${mediaType.slice(0, 60)} is not the service's. ` +
      'Check baseUrl and what stands between you and the service.',
  }
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

function isFieldProblem(item: unknown): item is FieldProblem {
  return (
    isRecord(item) && [item['field'], item['code'], item['message']].every(part => typeof part === 'string')
  )
}

/** Whether a parsed JSON value is an object with members. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
