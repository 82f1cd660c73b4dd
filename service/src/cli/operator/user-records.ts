import { type Command, type Input, neededText, type Option, valued } from '@benefit-enrolment/command'
import { sealReason } from '../../audit/reason.ts'
import { formatTimestamp } from '../../calendar/calendar.ts'
import { exportAllHeld } from '../../console/acts/export.ts'
import type { Executor } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { erasedName } from '../../membership/reading/load.ts'
import { openRetained } from '../../membership/records/retained-rows.ts'
import { OperatorError } from '../../operator-error.ts'
import type { Partner } from '../../partners/partner.ts'
import { inWorkspace, partnerIn, type Workspace } from '../workspace.ts'
import { openMemberReader } from './members.ts'

/** The reason why an operator reads a person's data; it is recorded in the audit log. */
export const reasonOption: Readonly<Record<string, Option>> = {
  reason: valued('TEXT', 'why; kept sealed on record (needed)'),
}

const exportOne: Command = {
  name: 'user export',
  arguments: ['PARTNER', 'USERID'],
  summary: 'Print all data kept about a user, unsealed, as one JSON object: for a request of access.',
  options: reasonOption,
  run: input =>
    withReason(input, async ({ workspace, partner, reason }) => {
      const context = { ...workspace, reader: openMemberReader(workspace) }
      const exported = await exportAllHeld(context, partner, input.positionals[1] ?? '')
      if (!exported)
        throw new OperatorError('This partner has no user of that userid: check the letter case, too.')
      const { serviceid: serviceId } = exported.user
      workspace.record({ serviceId, sealedReason: sealReason(partner, serviceId, reason) })
      // Recorded before it is printed, so that nobody sees data without a record of it.
      await workspace.database.query(workspace.alongside())
      input.print(exported, [JSON.stringify(exported, null, 2)])
    }),
}

const retained: Command = {
  name: 'user retained',
  arguments: ['PARTNER', 'USERID|SERVICEID'],
  summary: 'Print the records retained of an erased user, as one JSON object: agreed texts, dates of cover.',
  options: reasonOption,
  run: input =>
    withReason(input, async ({ workspace, partner, reason }) => {
      const serviceId = await findErased(workspace.database, partner, input.positionals[1] ?? '')
      const records = await openRetained(workspace.database, partner, serviceId)
      workspace.record({ serviceId, sealedReason: sealReason(partner, serviceId, reason) })
      await workspace.database.query(workspace.alongside())
      const view = { partnerid: partner.partnerId, serviceid: serviceId, retained: records }
      input.print(view, [JSON.stringify(view, null, 2)])
    }),
}

type Reasoned = { readonly workspace: Workspace; readonly partner: Partner; readonly reason: string }

async function withReason(input: Input, work: (reasoned: Reasoned) => Promise<void>): Promise<void> {
  const reason = neededText(input, 'reason')
  await inWorkspace(input, async workspace => {
    await work({ workspace, partner: await partnerIn(workspace, input.positionals[0]), reason })
  })
}

/** The erased user with this serviceid or former userid. Throws OperatorError when there is none, or more than one. */
async function findErased(db: Executor, partner: Partner, name: string): Promise<string> {
  const rows = await db.query<{ service_id: string; erased_at: number }>(sql`
    select service_id, erased_at from users
    where partner_id = ${partner.partnerId} and status = 'erased'
      and (userid = ${erasedName(partner, name)} or service_id::text = ${name.toLowerCase()})
    order by erased_at`)
  const [first] = rows
  if (!first)
    throw new OperatorError(
      'This partner has no erased user of that userid or serviceid: check the letter case, too.',
    )
  if (rows.length > 1) {
    const each = rows.map(row => `${row.service_id} (erased ${formatTimestamp(row.erased_at)})`)
    throw new OperatorError(
      `Several were erased under that userid; name one by serviceid: ${each.join(', ')}.`,
    )
  }
  return first.service_id
}

/** The commands that show all data kept about one person. */
export const userRecordCommands: readonly Command[] = [exportOne, retained]
