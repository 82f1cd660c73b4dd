import { html } from '../../http/html.ts'
import { decideRequest } from '../requests/store.ts'
import { type Deed, record, recordAlongside } from '../screen/record.ts'
import { type Answer, ConsoleRefusal, type OperatorVisit, reasonOf } from '../screen/screen.ts'
import { type Known, mayDecide, requiredRequest, SAME_PERSON } from './read.ts'

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
      'The root key with which it was sealed has been retired. Ask for it again.',
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
        `To decide this needs the role ${kind.role}, and yours is ${visit.operator.role}.`,
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

function deedOf({ partner, row }: Known): Pick<Deed, 'partner' | 'serviceId'> {
  return { partner, serviceId: row.service_id ?? undefined }
}
