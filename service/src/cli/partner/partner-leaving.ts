import { open } from 'node:fs/promises'
import { type Command, neededText, valued } from '@benefit-enrolment/command'
import { eraseAccount } from '../../accounts/lifecycle.ts'
import { sealReason } from '../../audit/reason.ts'
import { formatTimestamp, timestampOrNull } from '../../calendar/calendar.ts'
import { exportAllHeld } from '../../console/acts/export.ts'
import type { Database } from '../../db/database.ts'
import { rewriteTable } from '../../db/rewrite-table.ts'
import { sql } from '../../db/sql.ts'
import { openCommandExecutor } from '../../membership/commands/executor.ts'
import { OperatorError } from '../../operator-error.ts'
import { requirePartner } from '../../partners/administer.ts'
import { partnerOf } from '../../partners/keys.ts'
import type { Partner } from '../../partners/partner.ts'
import { deletePartner, deletePartnerRows } from '../../partners/remove.ts'
import type { PartnerRow } from '../../partners/store.ts'
import { erasureListOf } from '../operator/erasures.ts'
import { livingUsers, memberContext, openMemberReader } from '../operator/members.ts'
import { reasonOption } from '../operator/user-records.ts'
import { inWorkspace, systemUser, type Workspace } from '../workspace.ts'
import { viewPartner } from './partner-settings.ts'

/** How many users are read at a time. */
const USERS_AT_ONCE = 500

const exportAll: Command = {
  name: 'partner export',
  arguments: ['ID', 'FILE'],
  summary: 'Write all data of a partner and its users, unsealed, into a new file: one JSON line each.',
  options: reasonOption,
  run: async input => {
    const reason = neededText(input, 'reason')
    const [id = '', path = ''] = input.positionals
    await inWorkspace(input, async workspace => {
      const { database, keyring, real, record, begin } = workspace
      const row = await requirePartner(database, id)
      const partner = partnerOf(row, keyring)
      record({ sealedReason: sealReason(partner, undefined, reason) })
      const reader = openMemberReader(workspace)
      const file = await open(path, 'wx', 0o600).catch(error => {
        throw new OperatorError(
          `The file ${path} cannot be created (${error.code}): name one that does not exist, in a folder that you may write to.`,
        )
      })
      let users = 0
      try {
        // Recorded before the first line, because an export that is interrupted leaves the data of some users in the file.
        await begin()
        await file.write(`${JSON.stringify({ partner: viewPartner(row, []) })}\n`)
        for await (const page of livingUsers(database, partner, USERS_AT_ONCE))
          for (const { userid } of page) {
            const exported = await exportAllHeld({ database, reader, real }, partner, userid)
            if (!exported) continue
            await file.write(`${JSON.stringify(exported)}\n`)
            users += 1
          }
        await file.sync()
      } finally {
        await file.close()
      }
      input.print({ partnerid: partner.partnerId, users, file: path }, [
        `${users} users written to ${path}, which only you may read. It holds personal data in clear: move it by a safe way.`,
      ])
    })
  },
}

const remove: Command = {
  name: 'partner delete',
  arguments: ['ID'],
  summary:
    'Erase all users of a disabled partner and delete all its data; prints which records must be kept.',
  options: {
    ...reasonOption,
    name: valued('NAME', 'its name, so that no other partner is deleted (needed)'),
  },
  run: async input => {
    const reason = neededText(input, 'reason')
    const name = neededText(input, 'name')
    await inWorkspace(input, async workspace => {
      const { database, keyring, record, begin, commit } = workspace
      const row = await requirePartner(database, input.positionals[0] ?? '')
      refuseWrongOne(row, name)
      const partner = partnerOf(row, keyring)
      const { partnerId } = partner
      record({ partnerId, sealedReason: sealReason(partner, undefined, reason) })
      // Too much for one transaction: the first entry says that it began, and the last one that nothing is left to do.
      await begin()
      const erased = await eraseAll(workspace, partner)
      const keptUntil = await lastRetained(database, partnerId)
      await deletePartnerRows(database, partnerId, { withRetained: keptUntil !== null })
      await commit(async tx => {
        if (keptUntil === null) await deletePartner(tx, partnerId)
      })
      const isClean = await scrub(workspace, database.cellOf(partnerId))
      input.print({ partnerid: partnerId, erased, deleted: keptUntil === null, keptuntil: keptUntil }, [
        `${erased} users erased.`,
        keptUntil === null
          ? 'Everything that was kept of the partner is deleted, its key too; entries of the audit log stay for their time.'
          : `What must outlive the erasures stays until ${keptUntil}, readable by \`enrolment user retained\`: run this again then.`,
        isClean
          ? 'The keys have left the tables’ files.'
          : 'Somebody still looks at the past: run `enrolment maintain` so that the keys leave the tables’ files.',
      ])
    })
  },
}

function refuseWrongOne(row: PartnerRow, name: string): void {
  if (row.name !== name)
    throw new OperatorError('--name is not the name of this partner: see `enrolment partner show`.')
  if (row.disabled_at === null)
    throw new OperatorError(
      `This partner is not disabled: run \`enrolment partner disable ${row.partner_id}\` first, and see that nothing misses it.`,
    )
}

/**
 * Erases all users without events, because the partner leaves; records that must be retained are kept. Returns how many
 * users.
 */
async function eraseAll(workspace: Workspace, partner: Partner): Promise<number> {
  const { config, dataDir, database } = workspace
  const list = await erasureListOf(config, dataDir)
  const executor = openCommandExecutor(memberContext(workspace))
  let count = 0
  for await (const page of livingUsers(database, partner, USERS_AT_ONCE))
    for (const { userid } of page) {
      const result = await executor.submit({
        partner,
        userid,
        who: 'operator',
        why: 'erase',
        actor: systemUser(),
        decide: ({ orNew, now, terms }) => ({
          change: { user: eraseAccount(orNew(), now, terms()).user, events: [] },
          answer: after => ({
            serviceId: after.serviceId,
            erasedAt: formatTimestamp(after.erasedAt ?? now),
          }),
        }),
      })
      if (!('reply' in result)) throw new Error('an erasure was refused')
      await list?.note({ partnerId: partner.partnerId, ...result.reply })
      count += 1
    }
  return count
}

async function lastRetained(database: Database, partnerId: string): Promise<string | null> {
  const [row] = await database.query<{ until: number | null }>(sql`
    select max(keep_until) as until from retained_records where partner_id = ${partnerId}`)
  return timestampOrNull(row?.until)
}

async function scrub({ address }: Workspace, cell: string): Promise<boolean> {
  const owner = 'url' in address ? address : { ...address, user: 'postgres' }
  const tables = [
    { table: 'data_keys', cell },
    { table: 'partners', cell: '' },
  ]
  const done = await Promise.all(tables.map(of => rewriteTable(owner, of).catch(() => undefined)))
  return done.every(one => one?.isTableClean === true)
}

/** The commands for a partner that leaves. */
export const partnerLeavingCommands: readonly Command[] = [exportAll, remove]
