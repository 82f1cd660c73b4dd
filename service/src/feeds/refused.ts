import type { Executor } from '../db/database.ts'
import { findRefusedFarewells } from '../membership/records/farewells.ts'
import { openInsurerAnswer } from '../membership/records/insurer-lines.ts'
import { openDataKey } from '../membership/records/sealed.ts'
import type { Partner } from '../partners/partner.ts'
import { findRefused } from './answer-store.ts'

/** A refused line with which somebody must deal. */
export type RefusedLine = {
  readonly run: number
  readonly line: number
  readonly partnerid: string
  /** `''`: the person was erased, and the end of their cover is refused. */
  readonly userid: string
  readonly serviceid: string
  readonly benefit: string
  /** Absent: the line is about the member. */
  readonly dependantid?: string
  readonly code: string
  readonly text: string
}

/** The refused lines of a run, or of all runs of a feed, with which nobody has dealt; what the insurer said is opened. */
export async function refusedOf(
  {
    database,
    partners,
  }: { readonly database: Executor; readonly partners: () => Promise<readonly Partner[]> },
  { feed, run }: { readonly feed: string; readonly run: number | undefined },
): Promise<RefusedLine[]> {
  const refused: RefusedLine[] = []
  for (const partner of await partners()) {
    const { partnerId } = partner
    for (const { user, benefit, dependant, refused: ends } of await findRefusedFarewells(database, partner))
      for (const { run: sentIn, line, code } of ends.filter(
        one => one.feed === feed && (run ?? one.run) === one.run,
      ))
        refused.push({
          ...{ run: sentIn, line, partnerid: partnerId, userid: '', serviceid: user.serviceId, benefit },
          ...(dependant && { dependantid: dependant.dependantId }),
          ...{ code, text: '' },
        })
    for (const row of await findRefused(database, { partnerId, feed, run })) {
      const user = { partnerId, serviceId: row.service_id }
      const { code, text } = openInsurerAnswer(
        openDataKey(partner, row.service_id, row.wrapped_key),
        user,
        row.sealed_answer,
      )
      const { benefit, line } = row
      refused.push({
        run: row.run,
        line,
        partnerid: partnerId,
        userid: row.userid,
        serviceid: row.service_id,
        benefit,
        ...(row.dependant_id !== null && { dependantid: row.dependant_id }),
        code,
        text,
      })
    }
  }
  return refused
}
