import { noPartner } from '../../audit/entries.ts'
import { html, type Slot } from '../../http/html.ts'
import { roleWith } from '../../operators/operator.ts'
import { findSamePerson, operatorNames } from '../../operators/store.ts'
import { isUuid } from '../../vault/uuid.ts'
import { requestKinds } from '../acts/all.ts'
import { ownPartner } from '../partners.ts'
import {
  allPartners,
  type Concerned,
  openedRequest,
  type RequestKind,
  type SecondPersonRequest,
} from '../requests/request.ts'
import { decideRequest, findRequest, type RequestRow, stateOf } from '../requests/store.ts'
import { record, recordAlongside } from '../screen/record.ts'
import {
  type Answer,
  ConsoleRefusal,
  notHere,
  type OperatorVisit,
  onChange,
  onGet,
  reasonOf,
  type Screen,
} from '../screen/screen.ts'
import { findUserRow } from '../user-data/store.ts'
import { actionForm, facts, section, when } from '../views/parts.ts'
import { stateTag } from './list.ts'

/**
 * Does what another operator requested, if it would still have the same effect; otherwise shows the new effect and does
 * nothing.
 */
export async function confirm(visit: OperatorVisit): Promise<Answer> {
  const known = await decidable(visit)
  const { kind, request, row } = known
  const reason = reasonOf(visit)
  const deed = deedOf(known)
  if (!request)
    throw new ConsoleRefusal(
      409,
      'It can be opened no more',
      'The user was erased, and with them what this says.',
    )
  const done = await unlessDecided(visit, () =>
    kind.perform(visit, request, [
      decideRequest(row, { outcome: 'done', by: visit.operator.operatorId, at: visit.context.real() }),
      // Both operators are named: the one who wanted it, with the reason, and the one who confirmed it.
      recordAlongside(visit, {
        ...deed,
        action: `${kind.action} on request`,
        reason: request.reason,
        actor: row.asked_by,
      }),
      recordAlongside(visit, { ...deed, action: `confirm ${kind.action}`, reason }),
    ]),
  )
  if ('to' in done) return done
  await record(visit, { ...deed, action: `confirm ${kind.action}`, result: 'not done', reason })
  return {
    title: 'Not done',
    status: 409,
    body: html`<section class="notice bad" role="status"><h2>Nothing was done</h2><p>${done.refused}</p></section>
<p><a href="/requests/${row.request_id}">Look at the request again</a></p>`,
  }
}

/** Refuses another operator's request. */
export async function refuse(visit: OperatorVisit): Promise<Answer> {
  const known = await decidable(visit)
  const reason = reasonOf(visit)
  const { operatorId } = visit.operator
  return close(visit, known, {
    outcome: 'refused',
    by: operatorId,
    reason,
    action: `refuse ${known.kind.action}`,
  })
}

/** Withdraws the operator's own request. */
export async function withdraw(visit: OperatorVisit): Promise<Answer> {
  const known = await requiredRequest(visit)
  checkWaits(visit, known)
  if (visit.operator.operatorId !== known.row.asked_by) {
    await record(visit, { ...deedOf(known), action: `withdraw ${known.kind.action}`, result: 'refused' })
    throw new ConsoleRefusal(
      403,
      'Not yours',
      'A request is withdrawn by who asked for it; others refuse it.',
    )
  }
  return close(visit, known, { outcome: 'withdrawn', by: null, action: `withdraw ${known.kind.action}` })
}

async function close(
  visit: OperatorVisit,
  known: Known,
  closing: { outcome: 'refused' | 'withdrawn'; by: string | null; action: string; reason?: string },
): Promise<Answer> {
  const { outcome, by, ...deed } = closing
  await unlessDecided(visit, () =>
    visit.context.database.commit([
      decideRequest(known.row, { outcome, by, at: visit.context.real() }),
      recordAlongside(visit, { ...deedOf(known), ...deed }),
    ]),
  )
  return { to: '/requests' }
}

/**
 * The request, if it still waits and the operator may decide it. Otherwise throws a refusal, which is recorded when the
 * person may not decide.
 */
async function decidable(visit: OperatorVisit): Promise<Known> {
  const known = await requiredRequest(visit)
  const { kind, row } = known
  checkWaits(visit, known)
  if (mayDecide(visit, known)) return known
  await record(visit, { ...deedOf(known), action: `decide ${kind.action}`, result: 'refused' })
  throw known.isOwn
    ? new ConsoleRefusal(
        403,
        'A second person is needed',
        visit.operator.operatorId === row.asked_by
          ? 'You asked for this yourself: somebody else has to decide it.'
          : SAME_PERSON,
      )
    : new ConsoleRefusal(
        403,
        'Not for your role',
        `To decide this needs the role ${roleWith(kind.right)}, and yours is ${visit.operator.role}.`,
      )
}

function checkWaits({ context }: OperatorVisit, { row }: Known): void {
  if (row.outcome !== null) throw decidedBefore()
  if (row.expires_at <= context.real())
    throw new ConsoleRefusal(
      409,
      'It has lapsed',
      'Nobody decided it in time. Ask for it again, where it is still wanted.',
    )
}

function decidedBefore(): ConsoleRefusal {
  return new ConsoleRefusal(409, 'It is decided', 'Somebody has decided this request already.')
}

/** Runs the transaction of a decision. When two operators decide at once, the second one is told that it is decided. */
async function unlessDecided<T>(visit: OperatorVisit, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    const { row } = await requiredRequest(visit)
    throw row.outcome === null ? error : decidedBefore()
  }
}

function deedOf(known: Known): { partner: Concerned; serviceId: string | undefined } {
  return { partner: known.partner, serviceId: known.row.service_id ?? undefined }
}

/** A request with its kind; `request` is `undefined` when it can no longer be opened. */
export type Known = {
  readonly row: RequestRow
  readonly kind: RequestKind
  readonly partner: Concerned
  readonly request: SecondPersonRequest | undefined
  /** Whether who looks at it asked for it, by this account or by another that is known to be of the same person. */
  readonly isOwn: boolean
}

/** What somebody reads who asked for a thing by another account. */
export const SAME_PERSON =
  'You asked for this by another account of yours, which has the same email or the same name at the identity provider. Somebody else has to decide it.'

/**
 * The request of an id. Throws the refusal of an unknown request when it belongs to a partner for which the operator
 * does not work.
 */
export async function requiredRequest(visit: OperatorVisit): Promise<Known> {
  const id = visit.params['requestid'] ?? ''
  const partners = [...visit.partnerNames.keys(), noPartner]
  const row = isUuid(id) ? await findRequest(visit.context.database, partners, id) : undefined
  const known = row && (await knownOf(visit, row))
  if (!known) throw notHere('request')
  return known
}

async function knownOf(visit: OperatorVisit, row: RequestRow): Promise<Known | undefined> {
  const { database } = visit.context
  const kind = requestKinds.find(one => one.action === row.action)
  if (!kind) return undefined
  const same = await findSamePerson(database, visit.operator.operatorId)
  const partner = await (row.partner_id === noPartner
    ? allPartners(visit)
    : ownPartner(visit, row.partner_id))
  return {
    row,
    kind,
    partner,
    request: openedRequest(partner, row),
    isOwn: same.has(row.asked_by),
  }
}

/** Whether the operator may decide another operator's request; `false` for the operator's own. */
export function mayDecide({ may }: Pick<OperatorVisit, 'may'>, { kind, isOwn }: Known): boolean {
  return may(kind.right) && !isOwn
}

/** One request to a second person, and its decision. */
export const requestScreens: readonly Screen[] = [
  onGet('/requests/:requestid', 'support', show),
  onChange('/requests/:requestid/confirm', 'support', confirm),
  onChange('/requests/:requestid/refuse', 'support', refuse),
  onChange('/requests/:requestid/withdraw', 'support', withdraw),
]

async function show(visit: OperatorVisit): Promise<Answer> {
  const known = await requiredRequest(visit)
  const { row, kind, partner, request } = known
  const { database } = visit.context
  const [names, user] = await Promise.all([
    operatorNames(database),
    row.service_id === null ? undefined : findUserRow(database, [partner.partnerId], row.service_id),
  ])
  await record(visit, {
    action: 'look at request',
    result: 'shown',
    ...deedOf(known),
  })
  const zone = partner.timezone
  const state = stateOf(row, visit.context.real())
  return {
    title: kind.title,
    body: html`${facts([
      ['Partner', partner.name],
      row.service_id !== null && [
        'User',
        html`<a href="/users/${row.service_id}">${user?.erased_at === null ? user.userid : 'erased'}</a>`,
      ],
      ['Asked by', names.get(row.asked_by) ?? row.asked_by],
      ['Asked', when(row.asked_at, zone)],
      ['Because', request?.reason ?? '–'],
      ['State', stateTag(state)],
      row.decided_by !== null && ['Decided by', names.get(row.decided_by) ?? row.decided_by],
      row.decided_at !== null && ['Decided', when(row.decided_at, zone)],
      row.outcome === null && ['Lapses', when(row.expires_at, zone)],
    ])}
${state === 'waiting' && (await decision(visit, known))}
<p><a href="/requests">All requests</a></p>`,
  }
}

async function decision(visit: OperatorVisit, known: Known): Promise<Slot> {
  const { kind, row, request, isOwn } = known
  const isAsker = visit.operator.operatorId === row.asked_by
  const effect = request
    ? await kind.preview(visit, request)
    : { refused: 'The user was erased, and with them what this says.' }
  const isStale = 'refused' in effect || effect.effect !== request?.effect
  const shown = 'refused' in effect ? html`<p>${effect.refused}</p>` : effect.shown
  const path = `/requests/${row.request_id}`
  return html`${
    isStale &&
    html`<section class="notice bad" role="status">
<h2>It would do something else now than when it was asked for</h2><p>Nothing can be confirmed.
Ask for it again, where it is still wanted.</p></section>`
  }
${section('What would happen now', shown)}
${isOwn && !isAsker && section('Yours', html`<p class="hint">${SAME_PERSON}</p>`)}
${
  isAsker &&
  section(
    'Yours',
    html`<p class="hint">Somebody else has to confirm it.</p>${actionForm(visit, {
      action: `${path}/withdraw`,
      button: 'Withdraw it',
    })}`,
  )
}
${
  mayDecide(visit, known) &&
  section(
    'Decide',
    actionForm(visit, {
      action: `${path}/${isStale ? 'refuse' : 'confirm'}`,
      button: isStale ? 'Refuse' : 'Do it',
      color: isStale ? 'secondary' : kind.color,
      ...(isStale
        ? {}
        : { others: html`<button class="secondary" formaction="${path}/refuse">Refuse</button>` }),
      why: 'why-decide',
      because: 'Because',
    }),
  )
}
${!isOwn && !mayDecide(visit, known) && html`<p class="hint">To decide it takes the role ${roleWith(kind.right)}.</p>`}`
}
