import type { listUsers } from '@benefit-enrolment/contract'
import { noteRead, type Trail } from '../audit/trail.ts'
import { type Handler, ReadyJson } from '../http/mount.ts'
import { inSteps, type LongTurn } from '../http/shedding/long-reads.ts'
import type { UserPage, UserWalk } from '../membership/reading/walk.ts'
import { viewListedUser } from '../membership/rules/view.ts'
import type { Caller } from '../partners/authenticate.ts'

/** Lists a partner's users page by page (contract §16). */
export function userListHandler({
  walk,
  turn,
  trail,
}: {
  walk: UserWalk
  turn: LongTurn
  /** Records who listed users. */
  trail: Pick<Trail, 'note'>
}): Handler<typeof listUsers, Caller> {
  return async request => {
    const { after, status, changedafter } = request.query
    const changedSince = changedafter === undefined ? undefined : Date.parse(changedafter)
    const { partner } = request.caller
    const page = await walk(partner, { after, status, changedSince, turn })
    const { users: rows, terms } = page
    noteRead(trail, 'listUsers', request, undefined)
    const users = await inSteps(turn, partner.partnerId, {
      rows,
      make: user => JSON.stringify(viewListedUser(user, terms, request.locale)),
    })
    return new ReadyJson(
      Buffer.from(`{"users":[${users.join(',')}],"next":${JSON.stringify(cursorAfter(page))}}`),
    )
  }
}

type PageEnd = Pick<UserPage, 'isLast'> & { readonly users: readonly { readonly serviceId: string }[] }

/** The cursor behind a page, which `UserWalk` takes as `after`; `null` behind the last page. */
export function cursorAfter({ users, isLast }: PageEnd): string | null {
  return isLast ? null : (users.at(-1)?.serviceId ?? null)
}
