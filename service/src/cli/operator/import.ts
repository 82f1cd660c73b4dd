import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { type Command, flag, type Input, neededText, UsageError, valued } from '@benefit-enrolment/command'
import { sealReason } from '../../audit/reason.ts'
import { type MonthName, monthAt, monthNamed, nextMonth } from '../../calendar/month.ts'
import { isUnavailable } from '../../db/failure.ts'
import { openStatistics } from '../../db/statistics.ts'
import { explained } from '../../imports/codes.ts'
import { readRecords } from '../../imports/read-records.ts'
import { type ImportResult, type LineFault, runImport } from '../../imports/run-import.ts'
import type { ExecutorContext } from '../../membership/command.ts'
import { openCommandExecutor, openDryExecutor } from '../../membership/commands/executor.ts'
import { coveringEnrolments } from '../../membership/rules/covers.ts'
import { daysOf } from '../../membership/rules/family.ts'
import type { User } from '../../membership/rules/state.ts'
import { OperatorError } from '../../operator-error.ts'
import type { Partner } from '../../partners/partner.ts'
import { lines } from '../../statements/lines.ts'
import { monthsOf } from '../../statements/months.ts'
import { dollars } from '../../statements/summary.ts'
import { openTotals, sumOf, type Totals, totalsOf } from '../../statements/totals.ts'
import { uuidv7 } from '../../vault/uuid.ts'
import { dateIn } from '../date-option.ts'
import { inWorkspace, partnerIn, systemUser } from '../workspace.ts'
import { memberContext } from './members.ts'

/** Takes in the members that a partner has already, with their original dates (contract §18). */
export const importMembers: Command = {
  name: 'import',
  arguments: ['PARTNER', 'FILE'],
  summary: 'Take in the members that a partner has already, from CSV or NDJSON, with their original dates.',
  options: {
    reason: valued('TEXT', 'why; kept sealed on record (needed)'),
    'dry-run': flag('only report which lines cannot be taken, and why'),
    check: flag('refuse members whom the rules of the catalogue do not admit'),
    'charge-from': valued(
      'DATE',
      'the first of the month from which they are charged here (default: the month in which they are taken)',
    ),
    events: flag('raise enrollment_successful for each member taken'),
  },
  run: async input => {
    const reason = neededText(input, 'reason')
    const isDry = input.flag('dry-run')
    const chargeFrom = chargeFromIn(input)
    const [partnerId = '', path = ''] = input.positionals
    const left = await inWorkspace(input, async workspace => {
      const partner = await partnerIn(workspace, partnerId)
      workspace.record({ sealedReason: sealReason(partner, undefined, reason) })
      const bytes = await sizeOf(path)
      if (!isDry) await workspace.begin()
      // Without them an import is slower, and nothing else.
      const statistics = openStatistics(workspace.database, () => {})
      const context: ExecutorContext = {
        ...memberContext(workspace),
        onWritten: users => statistics.noteUsers(users.length),
      }
      const progress = openProgress(bytes)
      const preview = isDry ? await openPreview(context, partner, chargeFrom) : undefined
      const records = counted(readRecords(counted(chunksOf(path), progress.bytes)), progress.lines)
      const result = await runImport(records, {
        executor: isDry ? openDryExecutor(context) : openCommandExecutor(context, MOST_OF_BATCH),
        isDry,
        partner,
        options: { checks: input.flag('check'), raises: input.flag('events'), chargeFrom },
        ...(preview && { onTaken: preview.add }),
        actor: systemUser(),
        importId: uuidv7(workspace.real()),
      })
        .catch(brokenOff)
        .finally(progress.end)
      await statistics.idle()
      const statement = preview?.statement()
      input.print({ ...result, ...(statement && { statement }) }, [
        ...linesOf(result, isDry),
        ...(statement ? [lineOfStatement(statement)] : []),
      ])
      return result.different + result.refused
    })
    if (left > 0) throw new OperatorError(`${left} lines were not taken.`)
  },
}

/** The month of --charge-from. Throws UsageError unless it is the first of one. */
function chargeFromIn(input: Input): MonthName | undefined {
  const date = dateIn(input, 'charge-from')
  if (date === undefined || date.endsWith('-01')) return date?.slice(0, 7)
  throw new UsageError(`--charge-from is the first of a month, such as ${date.slice(0, 7)}-01; see --help.`)
}

/** What the next statement in which an import is charged comes to without it and with it. */
type Preview = { readonly month: MonthName; readonly before: Totals; readonly after: Totals }

/** Adds up what members who would be taken bring to the oldest open month in which they are charged. */
async function openPreview(context: ExecutorContext, partner: Partner, chargeFrom: MonthName | undefined) {
  const months = await monthsOf(context, partner)
  const { timezone } = partner
  const wanted = chargeFrom ?? monthAt(months.now, timezone)
  // While no month is final, one that members are charged for earlier is the oldest.
  const isEarliest = months.finals.length === 0 && wanted < months.oldestOpen.name
  const oldest = isEarliest ? wanted : months.oldestOpen.name
  const month = wanted < oldest ? months.oldestOpen : monthNamed(wanted, timezone)
  const before = await openTotals(context)(partner, month, months)
  const catalogues = context.terms(partner, () => undefined).version
  let after: Totals = before
  return {
    add({ user, chargedFrom }: { readonly user: User; readonly chargedFrom: MonthName }) {
      const { offer } = user
      const benefits = coveringEnrolments(user).map(one => {
        const { benefit, version, startsAt, endsAt, tiersFrom, covered } = one
        const people = covered?.map(row => ({ relationship: row.relationship, ...daysOf(one, row) }))
        return { name: benefit, version, startsAt, endsAt, tiersFrom, covered: people }
      })
      const offers = offer
        ? [{ name: offer.name, version: offer.version, startsAt: offer.since, endsAt: undefined }]
        : []
      // What is charged for months that are final comes as adjustments.
      for (let name = chargedFrom; name <= month.name; name = nextMonth(name)) {
        if (name !== month.name && name >= oldest) continue
        const own = lines(benefits, offers, catalogues, monthNamed(name, timezone))
        const added = totalsOf([{ serviceId: user.serviceId, userid: user.userid, lines: own }])
        after = sumOf(after, name === month.name ? added : { ...added, users: 0 })
      }
    },
    statement: (): Preview => ({ month: month.name, before, after }),
  }
}

function lineOfStatement({ month, before, after }: Preview): string {
  const told = ({ users, personcents, partnercents }: Totals) =>
    `${users} users, ${dollars(personcents)} deducted by the partner, ${dollars(partnercents)} paid to the operator`
  return `Statement of ${month}: ${told(before)}; with these members ${told(after)}.`
}

function brokenOff(error: unknown): never {
  if (!isUnavailable(error)) throw error
  throw new OperatorError(
    'The database went away or was too slow. What was taken before is on record: import the same file again to go on from there.',
  )
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch (error) {
    throw new OperatorError(`The file cannot be read (${(error as { code?: string }).code ?? 'unknown'}).`)
  }
}

/** The members of a batch share its statements and its commit, and nobody waits for the answer to one of them. */
const MOST_OF_BATCH = 512

function chunksOf(path: string): AsyncIterable<Buffer> {
  return createReadStream(path)
}

/** The same items; `onItem` is called with the length of each. */
async function* counted<Item extends { readonly length: number }>(
  items: AsyncIterable<Item>,
  onItem: (length: number) => void,
): AsyncGenerator<Item> {
  for await (const item of items) {
    onItem(item.length)
    yield item
  }
}

const TOLD_EVERY_MS = 1000

/** Tells on a terminal how much of a file has been read, how fast, and for how long it will go on. */
function openProgress(size: number) {
  const begunAt = performance.now()
  let bytes = 0
  let lines = 0
  const tell = () => {
    const seconds = (performance.now() - begunAt) / 1000
    const left = Math.ceil((seconds * (size - bytes)) / Math.max(1, bytes))
    const percent = Math.floor((100 * bytes) / Math.max(1, size))
    process.stderr.write(
      `\r${percent} %, ${lines} members, ${Math.round(lines / seconds)} a second, ${left} s left\x1b[K`,
    )
  }
  const timer = process.stderr.isTTY ? setInterval(tell, TOLD_EVERY_MS) : undefined
  return {
    bytes: (more: number) => {
      bytes += more
    },
    lines: (more: number) => {
      lines += more
    },
    end: () => {
      clearInterval(timer)
      if (timer) process.stderr.write('\r\x1b[K')
    },
  }
}

const MOST_LINES_SHOWN = 100

function linesOf(result: ImportResult, isDry: boolean): string[] {
  const { taken, equal, different, refused, errors, outside } = result
  const codes = explained([...errors, ...outside].map(({ code }) => code))
  const many = new Set(outside.map(({ line }) => line)).size
  return [
    isDry ? `${taken} can be taken; nothing is changed.` : `${taken} taken.`,
    `${equal} are here already and equal, ${different} differ and stay as they are, ${refused} refused.`,
    ...shownOf(errors),
    ...(many > 0
      ? [
          `${many} of those taken would not be admitted by the rules, and go on as they were elsewhere; --check refuses them:`,
          ...shownOf(outside),
        ]
      : []),
    ...(codes.length > 0 ? ['What the codes mean:', ...codes.map(one => `  ${one}`)] : []),
  ]
}

function shownOf(faults: readonly LineFault[]): string[] {
  const shown = faults
    .slice(0, MOST_LINES_SHOWN)
    .map(({ line, field, code }) => `  line ${line}: ${field}: ${code}`)
  const more = faults.length - shown.length
  return [...shown, ...(more > 0 ? [`  and ${more} more: --json lists all.`] : [])]
}
