import type { Executor } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { html, type Slot } from '../../http/html.ts'
import { findNewestRefusedCreates } from '../../membership/records/refused-creates.ts'
import { clientIdOf } from '../../oauth/client-credentials.ts'
import { changePartner } from '../../partners/administer.ts'
import type { Partner } from '../../partners/partner.ts'
import { listCredentials } from '../../partners/store.ts'
import { findStopReason } from '../audit/store.ts'
import { ownPartner } from '../partners.ts'
import { type Answer, type OperatorVisit, onChange, onGet, type Screen } from '../screen/screen.ts'
import { listScreens, type OpenList } from '../views/list.ts'
import { actionForm, facts, section, tag, when } from '../views/parts.ts'
import { refusedTable } from '../views/refused.ts'
import { countOf, healthInWords, rankOf, stateTag } from '../webhooks/endpoint.ts'
import { type EndpointLine, findEndpointLines } from '../webhooks/store.ts'
import { administer, credentialPart, rotatingPart, rotatingScreens } from './credentials.ts'
import { partnerSettingScreens } from './settings.ts'

/** Partners and their integration, of which nothing names a person; stopping a partner. */
export const partnerScreens: readonly Screen[] = [
  ...listScreens({
    path: '/partners',
    right: 'look',
    exported: 'export partners',
    open: partnerList,
  }),
  ...partnerSettingScreens,
  ...rotatingScreens,
  // A developer works for one partner.
  onGet('/integration', 'rotate', async ({ partnerNames }) => ({
    to: `/partners/${[...partnerNames.keys()][0]}`,
  })),
  onGet('/partners/:partnerid', 'integration', show),
  onChange('/partners/:partnerid/disable', 'administer', disable),
  onChange('/partners/:partnerid/enable', 'administer', enable),
]

async function show(visit: OperatorVisit): Promise<Answer> {
  const { database, real } = visit.context
  const partner = await ownPartner(visit)
  const { partnerId } = partner
  const [progress, reason, rows, lines, refused, publicUrl] = await Promise.all([
    findIntegrationProgress(database, partnerId),
    visit.may('support') ? findStopReason(database, partner) : '',
    listCredentials(database, partnerId),
    findEndpointLines(database, [partnerId], real()),
    findNewestRefusedCreates(database, partnerId),
    visit.context.publicUrl(),
  ])
  const { catalogue } = visit.context.terms(partner, () => undefined).today
  const about = { catalogue, zone: partner.timezone, whom: 'somebody' }
  const isDisabled = partner.disabledAt !== undefined
  return {
    title: partner.name,
    body: html`${visit.may('rotate') && modeLine(visit)}
${
  isDisabled &&
  html`<section class="notice bad"><h2>Disabled since ${when(
    partner.disabledAt ?? 0,
    partner.timezone,
  )}</h2>${reason !== '' && html`<p>${reason}</p>`}</section>`
}
<section class="card across">${facts([
      ['Id', html`<code>${partnerId}</code>`],
      ['Client id', html`<code>${clientIdOf(partnerId)}</code>`],
      ['Address of the API', html`<code>${publicUrl}</code>`],
      ['Time zone', partner.timezone],
      ['Language', partner.locale === 'es' ? 'Spanish' : 'English'],
      ['Offers', partner.offers?.join(', ') ?? 'all'],
      ['Scopes', partner.scopes?.join(', ') ?? 'all but beneficiaries:read and dependants:read'],
      ['API key', partner.apiKeyOptional ? 'optional' : 'needed'],
      ['Limit', partner.ratePerSecond === undefined ? 'none' : `${partner.ratePerSecond} requests a second`],
      ['Look', lookOf(partner)],
      [
        'Notices',
        Object.values(partner.legal)
          .map(one => (typeof one === 'string' ? one : one.en))
          .join(', ') || 'none set',
      ],
      ['Help', Object.values(partner.help).join(', ') || 'none set'],
      ['Origins', partner.origins.join(', ') || 'none'],
      ['Leads back to', partner.redirects.join(', ') || 'nowhere'],
      ['Made', when(partner.createdAt, partner.timezone)],
    ])}</section>
${
  visit.may('administer') &&
  html`<ul class="row links"><li><a class="button"
href="/partners/${partner.partnerId}/settings">Change settings, help and look</a></li></ul>`
}
<div class="columns"><div>
${await credentialPart(visit, partner, rows)}
${section('Endpoints', endpointsTable(lines, partner, real()))}
${section(
  'Refused requests',
  refusedTable(refused, about),
  html`<span class="hint">Attempts to enroll somebody, the newest first</span>`,
)}
</div><div>
${visit.may('rotate') && (await rotatingPart(visit, partner, rows))}
${section(
  'First steps',
  html`<ul class="rules">${(
    [
      ['A credential was used', progress.credential],
      ['A user was prefilled or created', progress.user],
      ['A webhook was accepted', progress.webhook],
      ['A page was opened in the last 30 days', progress.page],
    ] as const
  ).map(
    ([name, isDone]) => html`<li>${isDone ? tag('done', 'good') : tag('not yet', 'wait')} ${name}</li>`,
  )}</ul>`,
)}
${visit.may('administer') && stopPart(visit, partner)}
</div></div>`,
  }
}

const IS_LIVE = 'This is live: what is sent here concerns real people.'
const IS_SANDBOX = 'This is the sandbox: nobody here is a real person, and nothing is insured.'

function modeLine({ context: { mode } }: OperatorVisit): Slot {
  const isLive = mode === 'live'
  return html`<p class="lead">${isLive ? tag('live', 'good') : tag('sandbox', 'wait')} ${isLive ? IS_LIVE : IS_SANDBOX}</p>`
}

function endpointsTable(lines: readonly EndpointLine[], { timezone }: Partner, now: number): Slot {
  const sorted = [...lines].sort((a, b) => rankOf(a, now) - rankOf(b, now))
  if (sorted.length === 0) return html`<p class="hint">None: <code>POST /webhooks</code> makes one.</p>`
  return html`<ul class="rules">${sorted.map(
    line =>
      html`<li><a href="/webhooks/${line.endpoint_id}">${new URL(line.url).host}</a> ${stateTag(line, now)}
<span class="hint">${healthInWords(line, now, timezone)} · ${countOf(line.waiting)} waiting,
${countOf(line.dead)} given up</span></li>`,
  )}</ul>`
}

/** A partner's look in a line. */
function lookOf({ look }: Partner): string {
  const { logo, colors, ...plain } = look
  return (
    [
      logo !== undefined && 'a logo',
      colors &&
        Object.entries(colors).map(([scheme, names]) => `${scheme}: ${Object.keys(names ?? {}).join(' ')}`),
      ...Object.entries(plain)
        .map(([name, value]) => `${name} ${value}`)
        .sort(),
    ]
      .flat()
      .filter(Boolean)
      .join(', ') || 'the service’s own'
  )
}

function stopPart(visit: OperatorVisit, partner: Partner): Slot {
  const path = `/partners/${partner.partnerId}`
  const endpoints = html`<a href="/webhooks?partner=${partner.partnerId}">its endpoints</a>`
  if (partner.disabledAt !== undefined)
    return section(
      'Let it in again',
      html`<p class="hint">Its requests are refused and its pages have ended.
Cover goes on. Webhooks are still sent, until you pause ${endpoints}.</p>
${actionForm(visit, {
  action: `${path}/enable`,
  button: 'Enable',
  color: 'primary',
  why: 'why-enable',
})}`,
    )
  return section(
    'Stop this partner',
    html`<p class="hint">Within a second every request and token of the partner is refused, and its pages end.
Cover goes on, and changes that fall due still take effect. Webhooks are still sent, until you pause ${endpoints}.
Nothing is deleted.</p>
${actionForm(visit, { action: `${path}/disable`, button: 'Stop it now', color: 'danger', why: 'why-disable' })}`,
  )
}

async function disable(visit: OperatorVisit): Promise<Answer> {
  const partner = await ownPartner(visit)
  await administer(visit, { partner, action: 'disable partner' }, context =>
    changePartner(partner.partnerId, { isDisabled: true }, context),
  )
  return { to: `/partners/${partner.partnerId}` }
}

async function enable(visit: OperatorVisit): Promise<Answer> {
  const partner = await ownPartner(visit)
  await administer(visit, { partner, action: 'enable partner' }, context =>
    changePartner(partner.partnerId, { isDisabled: false }, context),
  )
  return { to: `/partners/${partner.partnerId}` }
}

type Row = { readonly partnerId: string; readonly name: string; readonly isDisabled: boolean }

const STATES = ['all', 'enabled', 'disabled'] as const

async function partnerList(visit: OperatorVisit): Promise<OpenList<Row>> {
  const state = STATES.find(one => one === visit.query.get('state')) ?? 'all'
  const name = (visit.query.get('name') ?? '').trim()
  const disabled = await disabledPartners(visit.context.database)
  return {
    title: 'Partners',
    heading: 'Who integrates',
    file: 'partners.csv',
    caption: 'Partners that you work for',
    empty:
      visit.partnerNames.size === 0
        ? 'There is no partner yet: `enrolment partner create` makes one.'
        : 'No partner fits.',
    filters: [
      { name: 'name', label: 'Name contains', value: name, type: 'text' },
      { name: 'state', label: 'State', value: state, options: STATES },
    ],
    rows: [...visit.partnerNames]
      .map(([partnerId, name]) => ({ partnerId, name, isDisabled: disabled.has(partnerId) }))
      .filter(one => state === 'all' || one.isDisabled === (state === 'disabled'))
      .filter(one => one.name.toLowerCase().includes(name.toLowerCase())),
    columns: [
      {
        name: 'partner',
        label: 'Partner',
        value: row => row.name,
        cell: row => html`<a href="/partners/${row.partnerId}">${row.name}</a>`,
      },
      {
        name: 'state',
        label: 'State',
        value: row => (row.isDisabled ? 'disabled' : 'enabled'),
        cell: row => (row.isDisabled ? tag('disabled', 'bad') : tag('enabled', 'good')),
      },
      {
        name: 'partnerid',
        label: 'Id',
        value: row => row.partnerId,
        cell: row => html`<code>${row.partnerId}</code>`,
      },
    ],
  }
}

/** How far a new partner has come towards a working integration: what has happened at least once. */
type IntegrationProgress = { credential: boolean; user: boolean; webhook: boolean; page: boolean }

/** Reads how far a partner has come. */
export async function findIntegrationProgress(db: Executor, partnerId: string): Promise<IntegrationProgress> {
  const [progress] = await db.query<IntegrationProgress>(sql`
    select
      exists (select from credential_uses where partner_id = ${partnerId}) as credential,
      exists (select from users where partner_id = ${partnerId}) as user,
      exists (select from endpoint_health where partner_id = ${partnerId} and accepted_pair is not null) as webhook,
      exists (select from (
        select spent_at from page_sessions where partner_id = ${partnerId} and created_at is not null
        order by created_at desc limit 1000) newest where newest.spent_at is not null) as page`)
  return progress ?? { credential: false, user: false, webhook: false, page: false }
}

/** The partners that are disabled. */
export async function disabledPartners(db: Executor): Promise<ReadonlySet<string>> {
  const rows = await db.query<{ partner_id: string }>(sql`
    select partner_id from partners where disabled_at is not null`)
  return new Set(rows.map(row => row.partner_id))
}
