import { html, type Slot } from '../../http/html.ts'
import { listOperators } from '../operators/store.ts'
import { record } from '../page/record.ts'
import type { Answer, Screen, Visit } from '../page/screen.ts'
import { actionForm, facts, part, reasonField, table, tag, when } from '../views/parts.ts'
import { confirm, refuse, withdraw } from './decide.ts'
import { type Known, mayDecide, requiredRequest, SAME_PERSON, visibleRequests } from './read.ts'
import type { RequestRow } from './store.ts'

/** The waiting requests to a second person, and the results of earlier ones. */
export const requestScreens: readonly Screen[] = [
  { method: 'GET', path: '/requests', role: 'support', section: 'requests', answer: list },
  { method: 'GET', path: '/requests/:requestid', role: 'support', section: 'requests', answer: show },
  ...(
    [
      ['confirm', confirm],
      ['refuse', refuse],
      ['withdraw', withdraw],
    ] as const
  ).map(
    ([name, answer]): Screen => ({
      method: 'POST',
      path: `/requests/:requestid/${name}`,
      role: 'support',
      changes: true,
      section: 'requests',
      answer,
    }),
  ),
]

async function list(visit: Visit): Promise<Answer> {
  const { waiting, past } = await visibleRequests(visit)
  const names = await operatorNames(visit)
  await record(visit, { action: 'look at requests', result: 'shown' })
  const rows = (shown: readonly Known[]) =>
    shown.map(({ row, kind, partner }) => [
      html`<a href="/requests/${row.request_id}">${kind.title}</a>`,
      partner?.name ?? 'all partners',
      names.get(row.asked_by) ?? '–',
      when(row.asked_at, 'UTC'),
      stateTag(visit, row),
    ])
  const columns = ['What', 'Partner', 'Asked by', 'Asked (UTC)', 'State']
  return {
    title: 'Requests',
    body: html`<p class="lead">What one operator asked for and another has to confirm.</p>
${part('Waiting', table({ caption: 'Requests that wait, the oldest first', columns, rows: rows(waiting), empty: 'Nothing waits.' }))}
${part('Decided', table({ caption: 'Requests that wait no longer, the newest first', columns, rows: rows(past), empty: 'Nothing yet.' }))}`,
  }
}

async function show(visit: Visit): Promise<Answer> {
  const known = await requiredRequest(visit)
  const { row, kind, partner, request } = known
  const names = await operatorNames(visit)
  await record(visit, {
    action: 'look at request',
    result: 'shown',
    ...(partner ? { partner } : {}),
    ...(row.service_id === null ? {} : { serviceId: row.service_id }),
  })
  const zone = partner?.timezone ?? 'UTC'
  return {
    title: kind.title,
    body: html`${facts([
      ['Partner', partner?.name ?? 'all partners'],
      row.service_id !== null && [
        'User',
        html`<a href="/users/${row.service_id}"><code>${row.service_id}</code></a>`,
      ],
      ['Asked by', names.get(row.asked_by) ?? row.asked_by],
      ['Asked', when(row.asked_at, zone)],
      ['Because', request?.reason ?? '–'],
      ['State', stateTag(visit, row)],
      row.decided_by !== null && ['Decided by', names.get(row.decided_by) ?? row.decided_by],
      row.decided_at !== null && ['Decided', when(row.decided_at, zone)],
      row.outcome === null && ['Lapses', when(row.expires_at, zone)],
    ])}
${isWaiting(visit, row) && (await decision(visit, known))}
<p><a href="/requests">All requests</a></p>`,
  }
}

async function decision(visit: Visit, known: Known): Promise<Slot> {
  const { kind, row, request, isOwn } = known
  const isAsker = visit.operator.operatorId === row.asked_by
  const effect = request
    ? await kind.preview(visit, request)
    : { refused: 'The key it was sealed with is gone.' }
  const isStale = 'refused' in effect || effect.effect !== request?.effect
  const shown = 'refused' in effect ? html`<p>${effect.refused}</p>` : effect.shown
  const path = `/requests/${row.request_id}`
  return html`${isStale && html`<section class="notice bad" role="status"><h2>It would do something else now than when it was asked for</h2><p>Nothing can be confirmed. Ask for it again, where it is still wanted.</p></section>`}
${part('What would happen now', shown)}
${isOwn && !isAsker && part('Yours', html`<p class="hint">${SAME_PERSON}</p>`)}
${isAsker && part('Yours', html`<p class="hint">Somebody else has to confirm it.</p>${actionForm(visit, { action: `${path}/withdraw`, button: 'Withdraw it' })}`)}
${
  mayDecide(visit, known) &&
  part(
    'Decide',
    html`${
      !isStale &&
      actionForm(visit, {
        action: `${path}/confirm`,
        button: 'Confirm and do it',
        look: 'primary',
        fields: reasonField('why-confirm', 'Confirm, because'),
      })
    }
${actionForm(visit, { action: `${path}/refuse`, button: 'Refuse it', look: 'danger', fields: reasonField('why-refuse', 'Refuse, because') })}`,
  )
}
${!isOwn && !mayDecide(visit, known) && html`<p class="hint">To decide it takes the role ${kind.role}.</p>`}`
}

function isWaiting({ context }: Visit, row: RequestRow): boolean {
  return row.outcome === null && row.expires_at > context.real()
}

function stateTag(visit: Visit, row: RequestRow): Slot {
  if (isWaiting(visit, row)) return tag('waiting', 'wait')
  return tag(row.outcome ?? 'lapsed', row.outcome === 'done' ? 'good' : 'plain')
}

async function operatorNames({ context }: Visit): Promise<ReadonlyMap<string, string>> {
  return new Map((await listOperators(context.database)).map(one => [one.operatorId, one.name]))
}
