import { type Command, flag, type Input, valued, writeAnswer } from '@benefit-enrolment/command'
import { type MonthName, nextMonth } from '../../calendar/month.ts'
import { OperatorError } from '../../operator-error.ts'
import type { Partner } from '../../partners/partner.ts'
import type { CountContext } from '../../statements/count.ts'
import { operatorCsvOf } from '../../statements/csv-file.ts'
import { finalizeMonths } from '../../statements/finalize.ts'
import { type Months, monthsOf } from '../../statements/months.ts'
import { everyPage, FIRST_PLACE, hasTierColumn, readLines, readPages } from '../../statements/pages.ts'
import type { UserLine } from '../../statements/store.ts'
import { dollars, openSummary } from '../../statements/summary.ts'
import { openTotals, viewStatements } from '../../statements/totals.ts'
import { memberContext } from '../operator/members.ts'
import { inWorkspace, partnerIn, type Workspace } from '../workspace.ts'

const list: Command = {
  name: 'statement list',
  arguments: ['PARTNER'],
  summary: "List a partner's months, newest first: open or final, and what each comes to.",
  run: input =>
    inWorkspace(input, async workspace => {
      const { context, partner, months } = await open(workspace, input)
      const statements = await viewStatements(openTotals(context), partner, months)
      input.print(
        { statements },
        statements.map(
          ({ month, status, users, personcents, partnercents }) =>
            `${month}  ${status.padEnd(5)}  ${users} users  ${dollars(personcents)} from people  ${dollars(partnercents)} from the partner`,
        ),
      )
    }),
}

const show: Command = {
  name: 'statement show',
  arguments: ['PARTNER', 'MONTH'],
  summary: 'Show what a month comes to, by offer, benefit and insurer, with the premiums.',
  options: {
    csv: flag('answer with the lines as a CSV file'),
    insurer: valued('CODE', 'only the lines of this insurer'),
  },
  run: input =>
    inWorkspace(input, async workspace => {
      const { context, partner, months } = await open(workspace, input)
      const name = input.positionals[1]
      const month = months.listed.find(one => one.name === name)
      if (!month)
        throw new OperatorError(
          'There is no statement of this month; `enrolment statement list` lists those that there are.',
        )
      // Recorded before it is printed, so that nobody sees data without a record of it.
      await workspace.database.query(workspace.alongside())
      const query = { month, months, from: FIRST_PLACE, isForOperator: true }
      const insurer = input.text('insurer')
      if (input.flag('csv')) {
        const pages = ofInsurer(readPages(context, partner, query), insurer)
        const withTier = await hasTierColumn(context, partner, query)
        for await (const text of operatorCsvOf(pages, withTier)) writeAnswer(text)
        return
      }
      const isFinal = months.finals.some(final => final.month === month.name)
      const { add, summary } = openSummary()
      const pages = everyPage(from => readLines(context, partner, { ...query, from }), FIRST_PLACE)
      for await (const lines of ofInsurer(pages, insurer)) add(lines)
      const { totals, byName } = summary()
      input.print({ month: month.name, status: isFinal ? 'final' : 'open', ...totals, lines: byName }, [
        `${month.name}, ${isFinal ? 'final' : 'open'}: ${totals.users} users, ${dollars(totals.personcents)} from people by the partner, ${dollars(totals.insurertakescents)} by insurers themselves, ${dollars(totals.partnercents)} from the partner, ${dollars(totals.insurercents)} to insurers`,
        ...byName.map(
          ({ kind, name, insurer, takenby, lines, personcents, partnercents, insurercents }) =>
            `${kind.padEnd(10)} ${name.padEnd(20)} ${insurer.padEnd(12)} ${lines} lines  ${dollars(personcents)}  ${dollars(partnercents)}  ${dollars(insurercents)}${takenby === 'insurer' ? '  the insurer takes what people pay' : ''}`,
        ),
      ])
    }),
}

const finalize: Command = {
  name: 'statement finalize',
  arguments: ['PARTNER', '[MONTH]'],
  summary: 'Make ended months final, the oldest first, up to a month (default: all that have ended).',
  options: { 'dry-run': flag('only say which months would become final') },
  run: input =>
    inWorkspace(input, async workspace => {
      const { context, partner, months } = await open(workspace, input)
      const last = input.positionals[1]
      const running = months.listed[0]?.name ?? ''
      const isMonth = /^\d{4}-(0[1-9]|1[0-2])$/.test(last ?? running)
      if (last !== undefined && !(isMonth && last >= months.oldestOpen.name && last < running))
        throw new OperatorError(
          'This month cannot become final: it is final already, has not ended, or is none. `enrolment statement list` lists the months.',
        )
      if (input.flag('dry-run')) {
        // Also those that are too old to be listed.
        const would: MonthName[] = []
        const isMeant = (name: MonthName) => name < running && (last === undefined || name <= last)
        for (let { name } = months.oldestOpen; isMeant(name); name = nextMonth(name)) would.push(name)
        input.print({ dryrun: true, months: would }, [`Would become final: ${would.join(', ') || 'nothing'}`])
        return
      }
      await workspace.begin()
      const made = await finalizeMonths(context, partner, {
        which: { upTo: last ?? running },
        mayGoOn: () => true,
      })
      input.print({ dryrun: false, months: made.months }, [
        `Final: ${made.months.join(', ') || 'nothing new'}`,
      ])
    }),
}

async function open(
  workspace: Workspace,
  input: Input,
): Promise<{ context: CountContext; partner: Partner; months: Months }> {
  const context = memberContext(workspace)
  const partner = await partnerIn(workspace, input.positionals[0])
  return { context, partner, months: await monthsOf(context, partner) }
}

async function* ofInsurer<Shown extends UserLine>(
  pages: AsyncIterable<readonly Shown[]>,
  insurer: string | undefined,
): AsyncGenerator<readonly Shown[]> {
  for await (const page of pages)
    yield insurer === undefined ? page : page.filter(({ line }) => line.insurer === insurer)
}

/** The commands about monthly statements. */
export const statementCommands: readonly Command[] = [list, show, finalize]
