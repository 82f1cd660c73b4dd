import type { InterfaceVersion } from './changes.ts'
import { type ErrorCode, errors } from './errors.ts'
import { type OAuthErrorCode, oauthErrorCodes, oauthErrors } from './oauth-errors.ts'
import { commonErrors, type Operation } from './operation.ts'
import { exampleProblem } from './problem.ts'

type Json = Record<string, unknown>

/** The headers of each answer. */
export const answerHeaders = {
  'Request-Id': { description: 'Names this request in our logs', schema: { type: 'string', format: 'uuid' } },
}

const retryAfter = {
  'Retry-After': { description: 'Seconds to wait', schema: { type: 'string', pattern: '^[0-9]+$' } },
}

/** The refusals of an operation, by their statuses, with an example of each code. */
export function describeErrors(
  operation: Operation,
  { baseUrl, version }: { baseUrl: string; version: InterfaceVersion },
): Json {
  const isClient = operation.caller === 'client'
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of [...operation.errors, ...commonErrors]) {
    // The token endpoint reports a wrong media type in its own form.
    if (isClient && code === 'unsupported_media_type') continue
    if (version === '1.0.1' && code === 'invalid_api_key') continue
    const { status } = errors[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  const described = Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: codes.map(code => `${code}: ${errors[code].title}`).join('; '),
        headers: status === 429 || status === 503 ? { ...answerHeaders, ...retryAfter } : answerHeaders,
        content: {
          ...(isClient ? oauthContent(codes) : {}),
          ...(isClient && !codes.some(isBeforePath) ? {} : problemContent(codes, baseUrl)),
        },
      },
    ]),
  )
  return isClient ? { ...describeOAuthErrors(), ...described } : described
}

/** A request that is refused before its path is known gets a problem document, at the token endpoint too. */
function isBeforePath(code: ErrorCode): boolean {
  return code === 'request_timeout' || code === 'headers_too_large'
}

function problemContent(codes: readonly ErrorCode[], baseUrl: string): Json {
  return {
    'application/problem+json': {
      schema: { $ref: '#/components/schemas/Problem' },
      examples: Object.fromEntries(codes.map(code => [code, { value: exampleProblem(code, baseUrl) }])),
    },
  }
}

function oauthContent(codes: readonly (ErrorCode | OAuthErrorCode)[]): Json {
  return {
    'application/json': {
      schema: { $ref: '#/components/schemas/OAuthError' },
      examples: Object.fromEntries(codes.map(code => [code, { value: { error: code } }])),
    },
  }
}

function describeOAuthErrors(): Json {
  return Object.fromEntries(
    [400, 401].map(status => {
      const codes = oauthErrorCodes.filter(code => oauthErrors[code] === status)
      return [status, { description: codes.join('; '), headers: answerHeaders, content: oauthContent(codes) }]
    }),
  )
}
