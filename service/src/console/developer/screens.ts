import { html, type Slot } from '../../http/html.ts'
import { findNewestRefusedCreates } from '../../membership/commands/find-refused-creates.ts'
import { clientIdOf } from '../../oauth/client-credentials.ts'
import type { Partner } from '../../partners/partner.ts'
import { accessFacts, addressFacts } from '../partner/facts.ts'
import { type Answer, type OperatorVisit, onGet, type Screen } from '../screen/screen.ts'
import { facts, section, tag } from '../views/parts.ts'
import { refusedTable } from '../views/refused.ts'
import { countOf, healthInWords, rankOf, stateTag } from '../webhooks/health.ts'
import { type EndpointLine, findEndpointLines } from '../webhooks/store.ts'
import { credentialScreens, ownCredentials } from './credentials.ts'
import { endpointScreens } from './endpoint.ts'
import { partnerOfDeveloper } from './own-partner.ts'

/**
 * What the engineers of a partner see of their integration: endpoints, refused requests and credentials; nothing of any
 * person. A developer works for one partner, and for nothing else.
 */
export const developerScreens: readonly Screen[] = [
  onGet('/integration', 'developer', show),
  ...endpointScreens,
  ...credentialScreens,
]

const IS_LIVE = 'This is live: what is sent here concerns real people.'
const IS_SANDBOX = 'This is the sandbox: nobody here is a real person, and nothing is insured.'

async function show(visit: OperatorVisit): Promise<Answer> {
  const partner = await partnerOfDeveloper(visit)
  const { database, real, mode } = visit.context
  const [lines, refused, credentials] = await Promise.all([
    findEndpointLines(database, [partner.partnerId], real()),
    findNewestRefusedCreates(database, partner.partnerId),
    ownCredentials(visit, partner),
  ])
  const isLive = mode === 'live'
  const kind = isLive ? tag('live', 'good') : tag('sandbox', 'wait')
  const { catalogue } = visit.context.terms(partner, () => undefined).today
  const about = { catalogue, zone: partner.timezone, whom: 'somebody' }
  return {
    title: 'Integration',
    body: html`<p class="lead">${kind} ${isLive ? IS_LIVE : IS_SANDBOX}</p>
<section class="card across">${facts([
      ['Partner', partner.name],
      ['Client id', html`<code>${clientIdOf(partner.partnerId)}</code>`],
      ['Address of the API', html`<code>${visit.context.publicUrl}</code>`],
      ...accessFacts(partner),
      ...addressFacts(partner),
      ['Time zone', partner.timezone],
    ])}</section>
${credentials.list}
<div class="columns"><div>
${section('Endpoints', endpointsTable(lines, partner, real()))}
${section(
  'Refused requests',
  refusedTable(refused, about),
  html`<span class="hint">Attempts to enroll somebody, the newest first</span>`,
)}
</div><div>${credentials.rotating}</div></div>`,
  }
}

function endpointsTable(lines: readonly EndpointLine[], { timezone }: Partner, now: number): Slot {
  const sorted = [...lines].sort((a, b) => rankOf(a, now) - rankOf(b, now))
  if (sorted.length === 0) return html`<p class="hint">None: <code>POST /webhooks</code> makes one.</p>`
  return html`<ul class="rules">${sorted.map(
    line =>
      html`<li><a href="/integration/endpoints/${line.endpoint_id}">${new URL(line.url).host}</a> ${stateTag(line, now)}
<span class="hint">${healthInWords(line, now, timezone)} · ${countOf(line.waiting)} waiting,
${countOf(line.dead)} given up</span></li>`,
  )}</ul>`
}
