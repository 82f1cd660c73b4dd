import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { type Command, flag, neededText, valued } from '@benefit-enrolment/command'
import { sealReason } from '../../audit/reason.ts'
import { isUnavailable } from '../../db/failure.ts'
import { readRecords } from '../../imports/read-records.ts'
import { type ImportResult, runImport } from '../../imports/run-import.ts'
import { openDryExecutor } from '../../membership/commands/dry-run.ts'
import { openCommandExecutor } from '../../membership/commands/executor.ts'
import { OperatorError } from '../../operator-error.ts'
import { uuidv7 } from '../../vault/uuid.ts'
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
    events: flag('raise enrollment_successful for each member taken'),
  },
  run: async input => {
    const reason = neededText(input, 'reason')
    const isDry = input.flag('dry-run')
    const [partnerId = '', path = ''] = input.positionals
    const left = await inWorkspace(input, async workspace => {
      const partner = await partnerIn(workspace, partnerId)
      workspace.record({
        sealedReason: sealReason(partner, undefined, reason),
        ...(isDry && { action: 'import --dry-run' }),
      })
      const bytes = await sizeOf(path)
      if (!isDry) await workspace.begin()
      const context = memberContext(workspace)
      const progress = openProgress(bytes)
      const records = counted(readRecords(counted(chunksOf(path), progress.bytes)), progress.lines)
      const result = await runImport(records, {
        executor: isDry ? openDryExecutor(context) : openCommandExecutor(context, MOST_OF_BATCH),
        isDry,
        partner,
        options: { checks: input.flag('check'), raises: input.flag('events') },
        actor: systemUser(),
        importId: uuidv7(workspace.real()),
      })
        .catch(brokenOff)
        .finally(progress.end)
      input.print(result, linesOf(result, isDry))
      return result.different + result.refused
    })
    if (left > 0) throw new OperatorError(`${left} lines were not taken.`)
  },
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

function linesOf({ taken, equal, different, refused, errors }: ImportResult, isDry: boolean): string[] {
  const shown = errors
    .slice(0, MOST_LINES_SHOWN)
    .map(({ line, field, code }) => `  line ${line}: ${field}: ${code}`)
  const more = errors.length - shown.length
  return [
    isDry ? `${taken} can be taken; nothing is changed.` : `${taken} taken.`,
    `${equal} are here already and equal, ${different} differ and stay as they are, ${refused} refused.`,
    ...shown,
    ...(more > 0 ? [`  and ${more} more: --json lists all.`] : []),
  ]
}
