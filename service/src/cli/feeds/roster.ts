import type { PlainDate } from '../../calendar/calendar.ts'
import { listVersions } from '../../catalogue/published.ts'
import { csvLine } from '../../csv.ts'
import type { Executor } from '../../db/database.ts'
import { OperatorError } from '../../operator-error.ts'
import { partnerOf } from '../../partners/keys.ts'
import { type RosterEntry, readRoster } from '../../rosters/roster.ts'
import { type Command, flag, type Input, neededText, UsageError, valued } from '../command.ts'
import { dateIn, neededDate } from '../date-option.ts'
import { partnersAsked } from '../partner-option.ts'
import { writeAnswer } from '../standard-streams.ts'
import { inWorkspace } from '../workspace.ts'

const columns = [
  'change',
  'partnerid',
  'userid',
  'serviceid',
  'firstname',
  'lastname',
  'dob',
  'state',
  'zipcode',
  'offer',
  'startson',
  'endson',
] as const

/** Prints the people covered by a benefit on a day: the list for an insurer. */
export const roster: Command = {
  name: 'roster',
  summary:
    'List the people covered by a benefit on a day, with their dates of cover. Contains personal data.',
  options: {
    benefit: valued('NAME', 'the benefit, by its name in the catalogue'),
    on: valued('DATE', 'the day, YYYY-MM-DD, in the time zone of each partner'),
    since: valued(
      'DATE',
      'also says who was added, ended or kept since that day; whoever ended is listed, too',
    ),
    partner: valued('ID', 'only this partner (default: all)'),
    csv: flag('answer with a CSV file'),
  },
  run: async input => {
    const query = {
      benefit: neededText(input, 'benefit'),
      on: neededDate(input, 'on'),
      since: sinceOf(input),
    }
    await inWorkspace(input, async ({ database, keyring, record, alongside }) => {
      const rows = await partnersAsked(database, input)
      const wanted = input.text('partner')
      await requireBenefit(database, query.benefit)
      const isCsv = input.flag('csv')
      if (wanted) record({ partnerId: wanted })
      // Recorded before it is printed, so that nobody sees data without a record of it.
      await database.query(alongside())
      if (isCsv) writeAnswer(`${csvLine(columns)}\r\n`)
      const listed: ReturnType<typeof listedEntry>[] = []
      for (const row of rows) {
        for await (const entries of readRoster(database, partnerOf(row, keyring), query)) {
          const page = entries.map(listedEntry)
          if (isCsv) for (const one of page) writeAnswer(`${csvLine(columns.map(name => one[name]))}\r\n`)
          else listed.push(...page)
        }
      }
      if (isCsv) return
      input.print(
        { benefit: query.benefit, on: query.on, since: query.since ?? null, covered: listed },
        listed.map(
          one =>
            `${one.change.padEnd(7)}${one.startson} to ${(one.endson || 'open').padEnd(12)}${one.userid}  ${one.firstname} ${one.lastname}, born ${one.dob}, ${one.state} ${one.zipcode}  (${one.offer})`,
        ),
      )
    })
  },
}

function listedEntry(entry: RosterEntry): Record<(typeof columns)[number], string> {
  const { person } = entry
  return {
    change: entry.change,
    partnerid: entry.partnerId,
    userid: entry.userid,
    serviceid: entry.serviceId,
    firstname: person.firstname ?? '',
    lastname: person.lastname ?? '',
    dob: person.dob ?? '',
    state: person.state ?? person.address?.state ?? '',
    zipcode: person.zipcode ?? person.address?.zipcode ?? '',
    offer: entry.offer,
    startson: entry.startsOn,
    endson: entry.endsOn ?? '',
  }
}

/** Refuses a name that no version of the catalogue has: for a misspelled one the list would be empty, and look right. */
async function requireBenefit(db: Executor, benefit: string): Promise<void> {
  const versions = await listVersions(db)
  const names = new Set(versions.flatMap(({ catalogue }) => [...catalogue.benefits.keys()]))
  if (names.has(benefit)) return
  throw new OperatorError(
    names.size === 0
      ? 'No catalogue has been published yet, so nobody is covered: see `enrolment catalogue publish`.'
      : `No version of the catalogue has a benefit "${benefit}": --benefit is one of ${[...names].sort().join(', ')}.`,
  )
}

/** The day to compare with. It is the earlier one, or people who are added would be listed as ended. */
function sinceOf(input: Input): PlainDate | undefined {
  const since = dateIn(input, 'since')
  if (since !== undefined && since > neededDate(input, 'on'))
    throw new UsageError('--since must not be later than --on; see --help.')
  return since
}
