import type { Instant } from '../../calendar/calendar.ts'
import { html, type Slot } from '../../http/html.ts'
import type { DocumentKind } from '../../membership/records/sealed.ts'
import { type Person, residenceOf } from '../../membership/rules/person.ts'
import { isKnown, type User } from '../../membership/rules/state.ts'
import type { Terms } from '../../membership/rules/terms.ts'
import type { Partner } from '../../partners/partner.ts'
import { isUuid } from '../../vault/uuid.ts'
import { ownPartner } from '../partners.ts'
import { record } from '../screen/record.ts'
import { notHere, type OperatorVisit } from '../screen/screen.ts'
import { findUserRow } from './store.ts'

/** A user who was not erased, as an act finds it. */
export type LivingUser = {
  readonly partner: Partner
  readonly serviceId: string
  readonly user: User
  readonly terms: Terms
  readonly now: Instant
}

/** An erased user, of whom no personal data is left. */
export type ErasedUser = {
  readonly partner: Partner
  readonly serviceId: string
  readonly erasedAt: Instant
  readonly createdAt: Instant
}

/** What a user is read with. */
export type ReadUser = LivingUser & {
  readonly dueChanges: NonNullable<
    Awaited<ReturnType<OperatorVisit['context']['reader']['read']>>
  >['dueChanges']
  readonly people: ReadonlyMap<DocumentKind, Person>
}

/** The user of a serviceid, or else of the address. Throws the refusal of an unknown user when the operator does not work for the partner. */
export async function openUser(
  visit: OperatorVisit,
  serviceId = visit.params['serviceid'] ?? '',
): Promise<ReadUser | ErasedUser> {
  const { database, reader } = visit.context
  const partners = [...visit.partnerNames.keys()]
  const row = isUuid(serviceId) ? await findUserRow(database, partners, serviceId) : undefined
  if (!row) throw notHere('user')
  const partner = await ownPartner(visit, row.partner_id)
  const erased = { partner, serviceId: row.service_id, createdAt: row.created_at }
  if (row.erased_at !== null) return { ...erased, erasedAt: row.erased_at }
  const reading = await reader.read(partner, row.userid)
  // Between the two reads the user may have been erased.
  if (!reading || reading.user.serviceId !== row.service_id)
    return { ...erased, erasedAt: visit.context.real() }
  const { user, now, dueChanges } = reading
  const people = await reader.documents(partner, user)
  const person = people.get('profile') ?? people.get('prefill')
  const terms = visit.context.terms(partner, () => (residenceOf(person) ? person : undefined))
  return { partner, serviceId: row.service_id, user, terms, now, dueChanges, people }
}

/** Whether the user was erased. */
export function isErased<Living extends object>(user: Living | ErasedUser): user is ErasedUser {
  return 'erasedAt' in user
}

/** The same; `undefined` for a user who was erased or is not known any more. */
export async function livingUser(visit: OperatorVisit, serviceId?: string): Promise<LivingUser | undefined> {
  const found = await openUser(visit, serviceId)
  return isErased(found) || !isKnown(found.user) ? undefined : found
}

/** The user of an act. Throws a refusal when there is no such user, or the user was erased. */
export async function requiredUser(visit: OperatorVisit): Promise<LivingUser> {
  const found = await livingUser(visit)
  if (!found) throw notHere('user')
  return found
}

/** The same for a page that shows something of the user: on record before it is shown. */
export async function lookAtUser(visit: OperatorVisit): Promise<LivingUser> {
  const found = await requiredUser(visit)
  const { partner, serviceId } = found
  await record(visit, { action: 'look at user', result: 'shown', partner, serviceId })
  return found
}

/** The user whom a page concerns. */
export function ofWhom({ partner, user, serviceId }: LivingUser): Slot {
  return html`<p class="hint">User <a href="/users/${serviceId}">${user.userid}</a> of ${partner.name}</p>`
}
