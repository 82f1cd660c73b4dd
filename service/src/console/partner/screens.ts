import { html, type Slot } from '../../http/html.ts'
import { changePartner, revokeKey } from '../../partners/administer.ts'
import type { Partner } from '../../partners/partner.ts'
import { ownPartner } from '../partners.ts'
import { type Answer, type OperatorVisit, onChange, onGet, reasonOf, type Screen } from '../screen/screen.ts'
import { actionForm, facts, section, tag, when } from '../views/parts.ts'
import { administer } from './administer.ts'
import { credentialPart } from './credentials.ts'
import { accessFacts, addressFacts } from './facts.ts'
import { partnerListScreens } from './list.ts'
import { partnerSettingScreens } from './settings.ts'
import { findIntegrationProgress, keepDisabledReason, readDisabledReason } from './store.ts'

/** Partners, their credentials, and stopping a partner. */
export const partnerScreens: readonly Screen[] = [
  ...partnerListScreens,
  ...partnerSettingScreens,
  onGet('/partners/:partnerid', 'viewer', visit => show(visit)),
  onChange('/partners/:partnerid/revoke', 'admin', revoke),
  onChange('/partners/:partnerid/disable', 'admin', disable),
  onChange('/partners/:partnerid/enable', 'admin', enable),
]

async function show(visit: OperatorVisit, notice?: Slot): Promise<Answer> {
  const { database } = visit.context
  const partner = await ownPartner(visit)
  const [progress, reason] = await Promise.all([
    findIntegrationProgress(database, partner.partnerId),
    readDisabledReason(database, partner.partnerId),
  ])
  const isDisabled = partner.disabledAt !== undefined
  return {
    title: partner.name,
    body: html`${notice}
${
  isDisabled &&
  html`<section class="notice bad"><h2>Disabled since ${when(
    partner.disabledAt ?? 0,
    partner.timezone,
  )}</h2>${reason !== null && visit.isSupport && html`<p>${reason}</p>`}</section>`
}
<section class="card across">${facts([
      ['Id', html`<code>${partner.partnerId}</code>`],
      ['Time zone', partner.timezone],
      ['Language', partner.locale === 'es' ? 'Spanish' : 'English'],
      ['Offers', partner.offers?.join(', ') ?? 'all'],
      ...accessFacts(partner),
      ['Look', lookOf(partner)],
      [
        'Notices',
        Object.values(partner.legal)
          .map(one => (typeof one === 'string' ? one : one.en))
          .join(', ') || 'none set',
      ],
      ['Help', Object.values(partner.help).join(', ') || 'none set'],
      ...addressFacts(partner),
      ['Made', when(partner.createdAt, partner.timezone)],
    ])}</section>
${
  visit.isAdmin &&
  html`<ul class="row links"><li><a class="button"
href="/partners/${partner.partnerId}/settings">Change settings, help and look</a></li></ul>`
}
<div class="columns"><div>
${await credentialPart(visit, partner)}
</div><div>
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
${visit.isAdmin && stopPart(visit, partner)}
</div></div>`,
  }
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

async function revoke(visit: OperatorVisit): Promise<Answer> {
  const partner = await ownPartner(visit)
  await administer(visit, { partner, action: 'revoke credential' }, context =>
    revokeKey(partner.partnerId, visit.form.get('credential') ?? '', context),
  )
  return { to: `/partners/${partner.partnerId}` }
}

async function disable(visit: OperatorVisit): Promise<Answer> {
  const partner = await ownPartner(visit)
  const alongside = [keepDisabledReason(partner.partnerId, reasonOf(visit))]
  await administer(visit, { partner, action: 'disable partner', alongside }, context =>
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
