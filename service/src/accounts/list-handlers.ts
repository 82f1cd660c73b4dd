import type { listUsers } from '@benefit-enrolment/contract'
import { noteRead, type Trail } from '../audit/trail.ts'
import type { Handler } from '../http/mount.ts'
import type { UserPage, UserWalk } from '../membership/reading/walk.ts'
import { viewListedUser } from '../membership/rules/view.ts'
import type { Caller } from '../partners/authenticate.ts'

/** Lists a partner's users page by page (contract §16). */
export function userListHandler({
  walk,
  trail,
}: {
  walk: UserWalk
  /** Records who listed users. */
  trail: Pick<Trail, 'note'>
}): Handler<typeof listUsers, Caller> {
  return async request => {
    const { after, status, changedafter } = request.query
    const changedSince = changedafter === undefined ? undefined : Date.parse(changedafter)
    const page = await walk(request.caller.partner, { after, status, changedSince })
    const { users, terms } = page
    noteRead(trail, 'listUsers', request, undefined)
    return {
      users: users.map(user => viewListedUser(user, terms, request.locale)),
      next: cursorAfter(page),
    }
  }
}

type PageEnd = Pick<UserPage, 'isLast'> & { readonly users: readonly { readonly serviceId: string }[] }

/** The cursor behind a page, which `UserWalk` takes as `after`; `null` behind the last page. */
export function cursorAfter({ users, isLast }: PageEnd): string | null {
  return isLast ? null : (users.at(-1)?.serviceId ?? null)
}
