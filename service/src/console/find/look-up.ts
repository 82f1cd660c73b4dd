import type { Executor } from '../../db/database.ts'
import {
  findRefusedCreatesAt,
  findRefusedRequest,
  type RefusedAt,
} from '../../membership/commands/find-refused-creates.ts'
import { searchHash } from '../../membership/records/sealed.ts'
import type { Partner } from '../../partners/partner.ts'
import { isUuid } from '../../vault/uuid.ts'
import { type FoundUser, findByHash, findById, findByName, MOST_FOUND } from './store.ts'

/** What is looked for, and at which partners; by email and phone only if `seesPersons`. */
export type Asked = {
  readonly database: Executor
  readonly partner: (partnerId: string) => Promise<Partner | undefined>
  readonly partnerIds: readonly string[]
  readonly what: string
  readonly seesPersons: boolean
}

/** What a text leads to. */
export type LookedUp = {
  readonly found: readonly FoundUser[]
  /** If no user was found: the refused creates that named this userid, or the same userid as this request. */
  readonly refused: readonly RefusedAt[]
  /** By what the refused creates were found; absent if there are none. */
  readonly refusedBy?: 'userid' | 'request'
  /** Whether nobody who came after the refused request can be the one whom it named. */
  readonly isSure: boolean
}

/**
 * Looks for a userid, a serviceid, the id of an event or a request, a reference, an email or a phone, each of them exactly,
 * but for spaces around it, which only a userid may contain. A request that was refused leads to the user whom it named or, if
 * there is none, to what was refused.
 */
export async function lookUp(asked: Asked): Promise<LookedUp> {
  const { database, partnerIds } = asked
  const what = asked.what.trim()
  const byId = isUuid(what) ? await findById(database, partnerIds, what.toLowerCase()) : []
  if (byId.length > 0) return users(byId)
  if (what === '' || what.length > MOST_CHARACTERS) return NOTHING
  // A UUID may still be a userid: a partner is free to name its users by UUIDs.
  const byText = await findByText(asked)
  if (byText.length > 0) return users(byText)
  const request = isUuid(what) ? await findRefusedRequest(asked, partnerIds, what.toLowerCase()) : undefined
  if (request?.serviceId !== undefined) {
    const { partnerId, serviceId } = request
    return users([{ partnerId, serviceId, by: 'request', refusedRequestId: what.toLowerCase() }])
  }
  if (request) return { found: [], refused: request.attempts, refusedBy: 'request', isSure: request.isSure }
  const refused = await findRefusedCreatesAt(database, await partnersOf(asked), what)
  return refused.length === 0 ? NOTHING : { found: [], refused, refusedBy: 'userid', isSure: true }
}

/** No userid, reference or email is longer. */
const MOST_CHARACTERS = 400
const NOTHING: LookedUp = { found: [], refused: [], isSure: true }

function users(found: readonly FoundUser[]): LookedUp {
  return { found, refused: [], isSure: true }
}

/** By a userid or reference; for those who may see personal data also by email or phone. */
async function findByText(asked: Asked): Promise<FoundUser[]> {
  const { database, partnerIds, seesPersons } = asked
  const what = asked.what.trim()
  const named = await findByName(database, partnerIds, [...new Set([asked.what, what])])
  const kind = /^\S+@\S+$/.test(what) ? 'email' : /^[-+().\s\d]{10,24}$/.test(what) ? 'phone' : undefined
  if (kind === undefined || !seesPersons) return named
  const reached = await findByHash(
    database,
    kind,
    (await partnersOf(asked)).map(partner => ({
      partnerId: partner.partnerId,
      hash: searchHash(partner, kind, what),
    })),
  )
  // One person's userid may look like the phone or the email of another: both are found, so that nobody is taken for the other.
  const known = new Set(named.map(one => one.serviceId))
  return [...named, ...reached.filter(one => !known.has(one.serviceId))].slice(0, MOST_FOUND)
}

async function partnersOf({ partnerIds, partner }: Asked): Promise<Partner[]> {
  const all = await Promise.all(partnerIds.map(id => partner(id)))
  return all.filter(one => one !== undefined)
}
