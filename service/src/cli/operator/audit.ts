import { type Command, flag, type Input, readGiven, UsageError, valued } from '@benefit-enrolment/command'
import { openBlockKeys } from '../../audit/block-keys.ts'
import { auditedTables, blocksOf, type Finding, verifyPartner } from '../../audit/blocks.ts'
import { type AuditRow, listEntries, noPartner, partnersOnRecord } from '../../audit/entries.ts'
import { type KeptHead, verifyHeads } from '../../audit/heads.ts'
import { DAY_MS, formatTimestamp, parseTimestamp } from '../../calendar/calendar.ts'
import type { Database } from '../../db/database.ts'
import { OperatorError } from '../../operator-error.ts'
import { requirePartner } from '../../partners/administer.ts'
import { listPartners } from '../../partners/store.ts'
import { inWorkspace } from '../workspace.ts'

const verify: Command = {
  name: 'audit verify',
  arguments: ['[PARTNER]'],
  summary:
    'Compare the audit record with its signed blocks; exits with 1 when a row was altered, removed or inserted.',
  options: {
    heads: valued('FILE', 'signatures that `audit export --heads` printed earlier; compares them, too'),
  },
  run: input =>
    inWorkspace(input, async ({ database, keyring, config, real }) => {
      const heads = headsOf(input)
      const keys = openBlockKeys(database, keyring)
      const findings: Finding[] = []
      let rows = 0
      let compared = 0
      for (const partnerId of await partnersOf(database, input)) {
        const own = heads.filter(head => head.partnerId === partnerId)
        compared += own.length
        findings.push(...(await verifyHeads(database, own, real() - config.auditKeepMs)))
        const found = await verifyPartner(database, keys, partnerId)
        rows += found.rows
        findings.push(...found.findings)
      }
      if (findings.length > 0)
        throw new OperatorError(
          `The record is not as it was signed: ${findings
            .slice(0, 20)
            .map(({ partnerId, source, name, fault }) => `${source} of ${partnerId}, ${name}: ${fault}`)
            .join('; ')}${findings.length > 20 ? `; and ${findings.length - 20} more` : ''}.`,
        )
      input.print({ ok: true, rows, ...(input.text('heads') === undefined ? {} : { heads: compared }) }, [
        `${rows} rows are as they were signed`,
        ...(input.text('heads') === undefined
          ? []
          : [`${compared} kept signatures are those of their blocks`]),
      ])
    }),
}

/** The signatures in the file of --heads. Throws OperatorError for a file that holds anything else. */
function headsOf(input: Input): readonly KeptHead[] {
  const file = input.text('heads')
  if (file === undefined) return []
  return readGiven(file, 'The file of --heads')
    .toString('utf8')
    .split('\n')
    .filter(line => line !== '')
    .map((line, index) => {
      const head = headOf(line)
      if (!head)
        throw new OperatorError(`Line ${index + 1} of the file of --heads is no signature of a block.`)
      return head
    })
}

function headOf(line: string): KeptHead | undefined {
  try {
    const { partnerid, source, number, until, hash } = JSON.parse(line) as Record<string, unknown>
    const known = auditedTables.find(one => one === source)
    const at = parseTimestamp(String(until))
    if (!known || at === undefined || typeof number !== 'number' || typeof hash !== 'string') return undefined
    return { partnerId: String(partnerid), source: known, number, until: at, hash }
  } catch {
    return undefined
  }
}

const exportAudit: Command = {
  name: 'audit export',
  arguments: ['[PARTNER]'],
  summary:
    'Print who did what, one JSON line per entry; with --heads the last signature of each partner, to keep elsewhere.',
  options: {
    from: valued('DATE', 'entries from this day on (UTC; default: all)'),
    until: valued('DATE', 'entries before this day (UTC)'),
    heads: flag('the last block of each partner instead of entries'),
  },
  run: input =>
    inWorkspace(input, async ({ database, real }) => {
      const from = dayGiven(input, 'from') ?? 0
      const until = dayGiven(input, 'until') ?? real() + DAY_MS
      // An empty answer would be taken for a time in which nobody did anything.
      if (input.text('until') !== undefined && until <= from)
        throw new UsageError('--until must be a later day than --from; see --help.')
      if (input.flag('heads'))
        for (const partnerId of await partnersOf(database, input))
          await printHeads(database, input, partnerId)
      else
        for (const partnerId of await partnersWithEntries(database, input))
          for (const row of await listEntries(database, { partnerId, from, until }))
            printLine(input, shown(row))
    }),
}

/** The partners whose entries are wanted. The entries of a deleted partner stay, so it can be named, too. */
async function partnersWithEntries(database: Database, input: Input): Promise<Iterable<string>> {
  const named = input.positionals[0]?.toLowerCase()
  const recorded = await partnersOnRecord(database)
  if (named !== undefined)
    return recorded.includes(named) && named !== noPartner ? [named] : partnersOf(database, input)
  return new Set([...(await partnersOf(database, input)), ...recorded])
}

async function printHeads(database: Database, input: Input, partnerId: string): Promise<void> {
  for (const source of auditedTables) {
    const head = (await blocksOf(database, source, partnerId)).at(-1)
    if (!head) continue
    const { number, hash } = head
    const until = formatTimestamp(head.until_at)
    printLine(input, { partnerid: partnerId, source, number, until, hash: hash.toString('hex') })
  }
}

function printLine(input: Input, line: object): void {
  input.print(line, [JSON.stringify(line)])
}

function shown(row: AuditRow): object {
  return {
    partnerid: row.partner_id,
    entryid: row.entry_id,
    at: formatTimestamp(row.at),
    actorkind: row.actor_kind,
    actor: row.actor,
    ...(row.source && { source: row.source.toString('hex') }),
    action: row.action,
    ...(row.service_id && { serviceid: row.service_id }),
    result: row.result,
    ...(row.request_id && { requestid: row.request_id }),
    times: row.times,
  }
}

/** The named partner, or all partners, and last the entries that belong to no partner. */
async function partnersOf(database: Database, input: Input): Promise<string[]> {
  const [named] = input.positionals
  if (named !== undefined) return [(await requirePartner(database, named)).partner_id]
  return [...(await listPartners(database)).map(row => row.partner_id), noPartner]
}

function dayGiven(input: Input, name: string): number | undefined {
  const text = input.text(name)
  if (text === undefined) return undefined
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  if (Number.isNaN(day)) throw new UsageError(`--${name} must be a day like 2026-11-21; see --help.`)
  return day
}

/** The commands about the audit log. */
export const auditCommands: readonly Command[] = [verify, exportAudit]
