import type { IncomingHttpHeaders } from 'node:http'

const FORM = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/
const nothing = /^0+$/

/**
 * The `traceparent` that a caller sent (W3C Trace Context), in the form of version 00; `undefined` when there is none, or
 * when it does not have the form: the caller is not told, as the standard demands.
 */
export function traceparentOf(headers: IncomingHttpHeaders): string | undefined {
  const sent = headers['traceparent']
  // Most callers send none.
  if (typeof sent !== 'string') return undefined
  const [, version, trace = '', parent = '', flags, more] = FORM.exec(sent) ?? []
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined
  if (nothing.test(trace) || nothing.test(parent)) return undefined
  return `00-${trace}-${parent}-${flags}`
}

/** The id of the trace in a `traceparent`. */
export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35)
}
