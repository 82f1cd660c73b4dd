import { openPublished } from '../../catalogue/published.ts'
import type { Executor } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { ExecutorContext } from '../../membership/command.ts'
import type { UserName } from '../../membership/reading/load.ts'
import { openTerms } from '../../membership/reading/open-terms.ts'
import { openReader, type Reader } from '../../membership/reading/reader.ts'
import { openUserMemory } from '../../membership/reading/user-memory.ts'
import type { viewRefused } from '../../membership/records/refused-creates.ts'
import { clockOn, type Partner } from '../../partners/partner.ts'
import { NIL_UUID } from '../../vault/uuid.ts'
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

/** The names of a partner's users but the erased, page by page in the order of their serviceids. */
export async function* livingUsers(
  db: Executor,
  { partnerId }: Partner,
  limit: number,
): AsyncGenerator<UserName[]> {
  for (let after = NIL_UUID; ; ) {
    const rows = await db.query<{ service_id: string; userid: string }>(sql`
      select service_id, userid from users
      where partner_id = ${partnerId} and service_id > ${after} and is_current and status <> 'erased'
      order by service_id limit ${limit}`)
    const last = rows.at(-1)
    if (!last) return
    yield rows.map(({ userid }) => ({ partnerId, userid }))
    after = last.service_id
  }
}

/** A refused create as a line. */
export function lineOfRefused({ at, code, reasons, requestid }: ReturnType<typeof viewRefused>): string {
  const why = reasons.map(one => `  ${one.field}: ${one.code}`).join(',')
  return `  ${at}  ${code}${why}   request ${requestid}`
}
