import { DateTime } from 'luxon'
import { memberContext } from '../../service/src/cli/operator/members.ts'
import { openCommandExecutor } from '../../service/src/membership/commands/executor.ts'
import { correctCover } from '../../service/src/membership/rules/correct-cover.ts'
import { type Correction, correctEnrolment } from '../../service/src/membership/rules/corrections.ts'
import { isRefusal, refuse } from '../../service/src/membership/rules/refusal.ts'
import { heldEnrolment } from '../../service/src/membership/rules/state.ts'
import { requirePartner } from '../../service/src/partners/administer.ts'
import { partnerOf } from '../../service/src/partners/keys.ts'
import type { TestService } from '../rig.ts'

/** A correction of a held benefit; its first or last day of cover is that many days from today. */
export type Correcting = { op: 'void'; b: string } | { op: 'movestart' | 'moveend'; b: string; days: number }

/** A dependant was covered until a day so many days from today. */
export type CorrectingCover = { op: 'lastcovered'; b: string; dependant: string; days: number }

/** Corrects what users of a partner hold, as an operator's command does beside the service. */
export function openCorrections(
  { database, keyring, now: real }: TestService,
  { partnerId, zone }: { partnerId: string; zone: string },
): (userid: string, op: Correcting | CorrectingCover) => Promise<{ refused?: string }> {
  const executor = openCommandExecutor(memberContext({ database, installation: { sandbox: true }, real }))
  return async (userid, op) => {
    const partner = partnerOf(await requirePartner(database, partnerId), keyring)
    const outcome = await executor.submit({
      partner,
      userid,
      who: 'operator',
      why: 'correction: dates',
      decide: ({ member, now, terms }) => {
        const held = member && heldEnrolment(member.user, op.b)
        if (!held) return refuse('user_not_found')
        const changed =
          op.op === 'lastcovered'
            ? correctCover(member.user, lastDayOf(held.id, op, now, zone), now, terms())
            : correctEnrolment(member.user, correctionOf(held.id, op, now, zone), now, terms())
        return isRefusal(changed) ? changed : { change: changed, answer: () => undefined }
      },
    })
    return isRefusal(outcome) ? { refused: outcome.refused } : {}
  }
}

function correctionOf(enrolmentId: string, op: Correcting, now: number, zone: string): Correction {
  if (op.op === 'void') return { kind: 'void', enrolmentId }
  const day = dayAfter(now, op.days, zone)
  return { kind: 'move', enrolmentId, ...(op.op === 'movestart' ? { firstDay: day } : { lastDay: day }) }
}

function lastDayOf(enrolmentId: string, { dependant, days }: CorrectingCover, now: number, zone: string) {
  return { enrolmentId, dependantId: dependant, lastDay: dayAfter(now, days, zone) }
}

function dayAfter(now: number, days: number, zone: string): `${number}-${number}-${number}` {
  const date = DateTime.fromMillis(now, { zone }).plus({ days }).toISODate()
  return date as `${number}-${number}-${number}`
}
