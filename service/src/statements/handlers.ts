import { Readable } from 'node:stream'
import type { OperationId } from '@benefit-enrolment/contract'
import { noteRead, type Trail } from '../audit/trail.ts'
import { type Handlers, ReadyStream } from '../http/mount.ts'
import { ServiceError } from '../http/service-error.ts'
import type { Caller } from '../partners/authenticate.ts'
import type { CountContext } from './count.ts'
import { csvOf } from './csv-file.ts'
import { monthsOf } from './months.ts'
import { hasTierColumn, readPage, readPages, readPlace, wireLine, writePlace } from './pages.ts'
import { openTotals, viewStatements } from './totals.ts'

type StatementOperation = Extract<OperationId, 'listStatements' | 'listStatementLines'>

/** The operations by which a partner reads what each of its months comes to (contract §16). */
export function statementHandlers(
  context: CountContext & {
    /** Records who read the lines, because they contain what the partner knows of its users. */
    readonly trail: Pick<Trail, 'note'>
  },
): Handlers<Caller, StatementOperation> {
  const openTotalsOf = openTotals(context)
  return {
    async listStatements({ caller: { partner } }) {
      const months = await monthsOf(context, partner)
      return { statements: await viewStatements(openTotalsOf, partner, months) }
    },
    async listStatementLines(request) {
      const { partner } = request.caller
      const months = await monthsOf(context, partner)
      const month = months.listed.find(({ name }) => name === request.params.month)
      if (!month) throw new ServiceError('statement_not_found')
      noteRead(context.trail, 'listStatementLines', request, undefined)
      const query = { month, months, from: readPlace(request.query.after), isForOperator: false }
      if (wantsCsv(request.headers.accept))
        return new ReadyStream(
          Readable.from(
            csvOf(readPages(context, partner, query), await hasTierColumn(context, partner, query)),
          ),
          'text/csv; charset=utf-8',
        )
      const { lines, next } = await readPage(context, partner, query)
      return { lines: lines.map(wireLine), next: next ? writePlace(next) : null }
    },
  }
}

/** Whether CSV is among the media types that are asked for; with `q=0` it is refused. */
function wantsCsv(accept = ''): boolean {
  return accept.split(',').some(given => {
    const [type = '', ...parameters] = given.split(';').map(part => part.trim().toLowerCase())
    return type === 'text/csv' && !parameters.some(one => /^q=0(\.0*)?$/.test(one))
  })
}
