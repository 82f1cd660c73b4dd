import { html, type Slot } from '../../http/html.ts'
import { operatorNames } from '../../operators/store.ts'
import { stateOf } from '../requests/store.ts'
import { record } from '../screen/record.ts'
import { type Answer, type OperatorVisit, onChange, onGet, type Screen } from '../screen/screen.ts'
import { findUserRow } from '../user-data/store.ts'
import { actionForm, facts, section, when } from '../views/parts.ts'
import { confirm, refuse, withdraw } from './decide.ts'
import { stateTag } from './list.ts'
import { type Known, mayDecide, requiredRequest, SAME_PERSON } from './read.ts'

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
    partner,
    serviceId: row.service_id ?? undefined,
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
${!isOwn && !mayDecide(visit, known) && html`<p class="hint">To decide it takes the role ${kind.role}.</p>`}`
}
