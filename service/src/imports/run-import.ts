import { hash } from 'node:crypto'
import type { Command, CommandResult } from '../membership/command.ts'
import type { CommandExecutor } from '../membership/commands/executor.ts'
import { isRefusal } from '../membership/rules/refusal.ts'
import type { Partner } from '../partners/partner.ts'
import { type Imported, type ImportOptions, importMember } from './import-member.ts'
import { type Fault, type ImportedMember, readMember } from './read-member.ts'
import type { ImportRecord } from './read-records.ts'

/** The result of an import: how many lines were taken, are here already, differ and were refused, and why. */
export type ImportResult = {
  taken: number
  equal: number
  different: number
  refused: number
  readonly errors: LineFault[]
  /** Members who were taken although the rules would not admit them, and why. */
  readonly outside: LineFault[]
}

/** What is wrong with a line of a file: the field and a code, never a value. */
export type LineFault = Fault & { readonly line: number }

/** How many members are under way at once: two batches are written while the members of the next one are read. */
const MOST_UNDER_WAY = 1536

/**
 * Imports the members of a file, in its order. A line that cannot be taken does not hold up the others. Rejects when the database
 * fails, with what is on record until then intact: the same import continues, because what is there already is equal.
 */
export async function runImport(
  records: AsyncIterable<readonly ImportRecord[]>,
  context: {
    readonly executor: CommandExecutor
    readonly partner: Partner
    readonly options: ImportOptions
    /** Whether nothing is written. A userid that comes twice is then refused, because it is not found among the stored ones. */
    readonly isDry: boolean
    /** Who imports, for the record. */
    readonly actor: string
    /** The audit entry of the import, which each change names. */
    readonly importId: string
    /** Called for each member who is taken. */
    readonly onTaken?: (taken: Extract<Imported, { is: 'taken' }>) => void
  },
): Promise<ImportResult> {
  const result: ImportResult = { taken: 0, equal: 0, different: 0, refused: 0, errors: [], outside: [] }
  const underWay = new Set<Promise<void>>()
  const seen = new Set<string>()
  for await (const some of records)
    for (const record of some) {
      const { line } = record
      const refuse = (faults: readonly Fault[]) => {
        result.refused += 1
        result.errors.push(...faults.map(({ field, code }) => ({ line, field, code })))
      }
      const member = 'member' in record ? readMember(record.member) : record.faults
      if (isFaulty(member)) {
        refuse(member)
        continue
      }
      if (context.isDry && isRepeated(seen, member)) {
        refuse([{ field: 'userid', code: 'duplicate' }])
        continue
      }
      const done = context.executor.submit(commandOf(member, context)).then(decided => {
        if (isRefusal(decided)) refuse(faultsOf(decided))
        else note(result, line, decided.reply, context)
      })
      const settled = done.finally(() => underWay.delete(settled))
      underWay.add(settled)
      if (underWay.size >= MOST_UNDER_WAY) await Promise.race(underWay)
    }
  await Promise.all(underWay)
  for (const faults of [result.errors, result.outside]) faults.sort((a, b) => a.line - b.line)
  return result
}

function isFaulty(member: ImportedMember | readonly Fault[]): member is readonly Fault[] {
  return Array.isArray(member)
}

/** Hashes are kept, because a part of a line would keep the whole line in memory. */
function isRepeated(seen: Set<string>, { userid }: ImportedMember): boolean {
  const before = seen.size
  return seen.add(hash('sha256', userid, 'base64')).size === before
}

function commandOf(
  member: ImportedMember,
  { partner, options, actor, importId }: Parameters<typeof runImport>[1],
): Command<Imported> {
  return {
    partner,
    userid: member.userid,
    who: 'operator',
    why: 'imported',
    actor,
    requestId: importId,
    decide: commandContext => importMember(commandContext, { partner, member, options }),
  }
}

function faultsOf({ refused, reasons }: Extract<CommandResult<Imported>, { refused: unknown }>): Fault[] {
  return reasons.length > 0
    ? reasons.map(({ field, code }) => ({ field, code }))
    : [{ field: 'userid', code: refused }]
}

function note(
  result: ImportResult,
  line: number,
  imported: Imported,
  { onTaken }: Parameters<typeof runImport>[1],
): void {
  result[imported.is] += 1
  if (imported.is === 'taken') {
    result.outside.push(...imported.outside.map(({ field, code }) => ({ line, field, code })))
    onTaken?.(imported)
  }
  if (imported.is === 'different') result.errors.push({ line, field: imported.field, code: 'different' })
}
