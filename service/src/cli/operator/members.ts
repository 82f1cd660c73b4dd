import { formatTimestamp } from '../../calendar/calendar.ts'
import { openPublished } from '../../catalogue/published.ts'
import type { ExecutorContext } from '../../membership/command.ts'
import { openTerms } from '../../membership/reading/open-terms.ts'
import { openReader, type Reader } from '../../membership/reading/reader.ts'
import { openUserMemory } from '../../membership/reading/user-memory.ts'
import type { RefusedCreate } from '../../membership/saving/refused-creates.ts'
import { clockOn } from '../../partners/partner.ts'
import type { Workspace } from '../workspace.ts'

type WorkspacePart = Pick<Workspace, 'database' | 'installation' | 'real'>

/**
 * The context for commands that change users, with the rules and the clocks of the service. It tells a running
 * service nothing of its writes: that compares what it remembers with the database, and its dispatcher looks for new events.
 */
export function memberContext({ database, installation, real }: WorkspacePart): ExecutorContext {
  return {
    ...openTerms({ published: openPublished({ database, real }), real }),
    database,
    clock: clockOn(real),
    sandbox: installation.sandbox,
    onEvents: () => {},
    onWritten: () => {},
  }
}

/** Opens the reader of users for a command. */
export function openMemberReader(workspace: WorkspacePart, context = memberContext(workspace)): Reader {
  return openReader({ ...context, memory: openUserMemory(workspace.real) })
}

/** A refused create as commands print it. */
export function viewRefused({ at, requestId, code, reasons }: RefusedCreate) {
  return { at: formatTimestamp(at), requestid: requestId, code, reasons }
}

/** The same as a line. */
export function lineOfRefused({ at, code, reasons, requestid }: ReturnType<typeof viewRefused>): string {
  const why = reasons.map(one => `  ${one.field}: ${one.code}`).join(',')
  return `  ${at}  ${code}${why}   request ${requestid}`
}
