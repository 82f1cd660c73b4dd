import { type Command, flag, valued, writeAnswer } from '@benefit-enrolment/command'
import { addDays, formatTimestamp, startOfDate } from '../../calendar/calendar.ts'
import { csvLine } from '../../csv.ts'
import { type ComingKind, comingKinds, findComing } from '../../membership/reading/coming.ts'
import { clockOn } from '../../partners/partner.ts'
import { neededDate } from '../date-option.ts'
import { partnersAsked } from '../partner-option.ts'
import { inWorkspace } from '../workspace.ts'

const columns = ['at', 'what', 'name', 'next', 'userid', 'serviceid', 'partnerid'] as const

const summaries: Readonly<Record<ComingKind, string>> = {
  ending: 'List the users whose benefits end by a day, from now on.',
  starting: 'List the users whose benefits start by a day, from now on.',
  changing: 'List the users who change the offer, swap or leave by a day, from now on.',
}

/**
 * Lists coming changes, by each partner's own time zone and clock; the list contains userids and no other personal
 * data.
 */
function coming(kind: ComingKind): Command {
  return {
    name: `users ${kind}`,
    summary: summaries[kind],
    options: {
      by: valued('DATE', 'up to the end of this day, YYYY-MM-DD, in the partner’s time zone'),
      partner: valued('ID', 'only this partner (default: all)'),
      csv: flag('answer with a CSV file'),
    },
    run: async input => {
      const by = neededDate(input, 'by')
      await inWorkspace(input, async ({ database, real, record, alongside }) => {
        const { partners, unreachable } = await partnersAsked(database, input)
        const wanted = input.text('partner')
        if (wanted) record({ partnerId: wanted })
        // Recorded before it is printed, so that nobody sees data without a record of it.
        await database.query(alongside())
        const clock = clockOn(real)
        const listed: Record<(typeof columns)[number], string>[] = []
        for (const { partner_id: partnerId, timezone, clock_offset_ms: clockOffsetMs } of partners) {
          const from = clock.now({ clockOffsetMs })
          const next = startOfDate(addDays(by, 1), timezone)
          // A benefit that ends with a day ends at the first instant of the next day.
          const until = kind === 'ending' ? next + 1 : next
          const rows = await findComing(database, kind, { partnerId, from, until })
          for (const row of rows)
            listed.push({
              at: formatTimestamp(row.at),
              what: row.what,
              name: row.name,
              next: row.next,
              userid: row.userid,
              serviceid: row.service_id,
              partnerid: partnerId,
            })
        }
        if (input.flag('csv')) {
          writeAnswer(`${csvLine(columns)}\r\n`)
          for (const one of listed) writeAnswer(`${csvLine(columns.map(name => one[name]))}\r\n`)
          return
        }
        input.print(
          { by, [kind]: listed, ...(unreachable.length > 0 && { unreachable }) },
          listed.map(
            one =>
              `${one.at}  ${one.what} ${one.name}${one.next ? ` (${one.next})` : ''}  ${one.userid}  ${one.serviceid}  of ${one.partnerid}`,
          ),
        )
      })
    },
  }
}

/** The commands about coming changes of users. */
export const usersCommands: readonly Command[] = comingKinds.map(coming)
