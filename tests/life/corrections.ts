import { DateTime } from 'luxon'
import { memberContext } from '../../service/src/commands/members.ts'
import { openCommandExecutor } from '../../service/src/membership/commands/executor.ts'
import { correctEnrolment } from '../../service/src/membership/rules/corrections.ts'
import { isRefusal, refuse } from '../../service/src/membership/rules/refusal.ts'
import { heldEnrolment } from '../../service/src/membership/rules/state.ts'
import { partnerOf } from '../../service/src/partners/keys.ts'
import { requirePartner } from '../../service/src/partners/manage.ts'
import type { TestService } from '../rig.ts'

/** A correction of a held benefit. */
export type Correcting = { op: 'void'; b: string } | { op: 'date'; b: string; days: number }

/** Corrects what users of a partner hold, as an operator's command does beside the service. */
export function openCorrections(
  { database, keyring, now: real }: TestService,
  { partnerId, zone }: { partnerId: string; zone: string },
): (userid: string, op: Correcting) => Promise<{ refused?: string }> {
  const executor = openCommandExecutor(memberContext({ database, installation: { sandbox: true }, real }))
  return async (userid, op) => {
    const partner = partnerOf(await requirePartner(database, partnerId), keyring)
    const outcome = await executor.submit({
      partner,
      userid,
      who: 'operator',
      why: 'correction',
      decide: ({ member, now, terms }) => {
        const held = member && heldEnrolment(member.user, op.b)
        if (!held) return refuse('user_not_found')
        const lastDay = op.op === 'date' ? dayAfter(now, op.days, zone) : undefined
        const changed = correctEnrolment(
          member.user,
          op.op === 'void'
            ? { kind: 'void', enrolmentId: held.id }
            : { kind: 'move', enrolmentId: held.id, lastDay },
          now,
          terms(),
        )
        return isRefusal(changed) ? changed : { change: changed, answer: () => undefined }
      },
    })
    return isRefusal(outcome) ? { refused: outcome.refused } : {}
  }
}

function dayAfter(now: number, days: number, zone: string): `${number}-${number}-${number}` {
  const date = DateTime.fromMillis(now, { zone }).plus({ days }).toISODate()
  return date as `${number}-${number}-${number}`
}
