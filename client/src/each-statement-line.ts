import type { Client, StatementLine } from './generated.ts'
import type { CallOptions } from './options.ts'

/** Starts a walk over the lines of a month, `YYYY-MM`. */
export type EachStatementLine = (
  where: { month: string },
  options?: Omit<CallOptions, 'idempotencyKey'>,
) => AsyncIterable<StatementLine>

/** Makes the walk of a client over the lines of a month, which reads a page when it is needed. */
export function eachStatementLineOf(client: Pick<Client, 'listStatementLines'>): EachStatementLine {
  return async function* walk({ month }, options = {}) {
    let after: string | null | undefined
    while (after !== null) {
      const page = await client.listStatementLines(
        { month, ...(after === undefined ? {} : { after }) },
        options,
      )
      yield* page.lines
      after = page.next
    }
  }
}
