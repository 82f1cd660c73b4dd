import type { IncomingHttpHeaders } from 'node:http'
import {
  BulkCancel,
  BulkLine,
  bulkOperations,
  type Operation,
  type RequestLimits,
} from '@benefit-enrolment/contract'
import { readJson } from '../http/json-body.ts'
import { ServiceError } from '../http/service-error.ts'
import { compileCheck, withoutEmpty } from '../http/validation.ts'

/** The request that a line of a bulk stands for (contract §18). */
export type LineRequest = {
  readonly operation: Operation
  readonly body: unknown
  readonly params: unknown
  readonly query: Readonly<Record<string, unknown>>
  readonly headers: IncomingHttpHeaders
  readonly target: () => { readonly path: string; readonly query: string }
}

const checkLine = compileCheck(BulkLine, 'line')
const checkCancel = compileCheck(BulkCancel, 'body')

/**
 * Reads a line, of which there are no bytes when it is too long. Refuses with `body_too_large`, `malformed_json` and, what is
 * no line of a bulk, with `bad_request`. The body is left for the checks of its operation.
 */
export function readLine(
  bytes: Buffer | undefined,
  { bodyKib, bodyNesting }: Pick<RequestLimits, 'bodyKib' | 'bodyNesting'>,
): LineRequest {
  if (bytes === undefined) throw new ServiceError('body_too_large', `Send at most ${bodyKib} KiB a line.`)
  const line = readJson(bytes, bodyNesting + 1, 'The line')
  checkLine(line)
  const { operation: name, key, body } = line as BulkLine
  const operation: Operation = bulkOperations[name]
  const headers = { version: 'v2', ...(key ? { 'idempotency-key': key } : {}) }
  if (name !== 'cancel')
    return {
      operation,
      body,
      params: {},
      query: {},
      headers,
      target: () => ({ path: operation.path, query: '' }),
    }
  const { userid, ...query } = checkCancel(withoutEmpty(body)) as BulkCancel
  return {
    operation,
    body: undefined,
    params: { userid },
    query,
    headers,
    target: () => ({
      path: operation.path.replace('{userid}', encodeURIComponent(userid)),
      query: new URLSearchParams(query).toString(),
    }),
  }
}
