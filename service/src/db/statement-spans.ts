import type pg from 'pg'
import type { Tracing } from '../tracing.ts'

/**
 * Makes a span of each statement on a connection that is sent within another span. It has the statement's text, in which every
 * value is a number such as $1; its values are no part of it.
 */
export function traceStatements(client: pg.PoolClient, tracing: Tracing): void {
  const send = client.query.bind(client) as (
    query: Statement | string,
    ...more: unknown[]
  ) => Promise<unknown>
  const sendTraced = (query: Statement | string, ...more: unknown[]) => {
    const under = tracing.active()
    // With a callback the pool sends it itself, for nobody who waits.
    if (!under || more.length > 0) return send(query, ...more)
    const text = typeof query === 'string' ? query : query.text
    const attributes = { 'db.system.name': 'postgresql', 'db.query.text': text }
    return tracing.run({ name: summaryOf(text), kind: 'CLIENT', attributes, under }, () => send(query))
  }
  client.query = sendTraced as typeof client.query
}

type Statement = { readonly text: string }

/** What a statement does, and the first table that it names: `update users`. */
function summaryOf(text: string): string {
  const [verb = ''] = /\w+/.exec(text) ?? []
  const [, table] = /\b(?:from|into|update)\s+(?!unnest\b)(\w+)/.exec(text) ?? []
  return table === undefined ? verb : `${verb} ${table}`
}
