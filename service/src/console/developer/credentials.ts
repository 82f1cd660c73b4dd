import { html, type Slot } from '../../http/html.ts'
import { revokeKey, rotateKey } from '../../partners/administer.ts'
import type { Partner } from '../../partners/partner.ts'
import { listCredentials } from '../../partners/store.ts'
import { administer } from '../partner/administer.ts'
import { credentialPart, KINDS } from '../partner/credentials.ts'
import { type Answer, onChange, type Screen, type Visit } from '../screen/screen.ts'
import { actionForm, part } from '../views/parts.ts'
import { partnerOfDeveloper } from './own-partner.ts'

/** Making and revoking the partner's own secrets and keys. */
export const credentialScreens: readonly Screen[] = [
  onChange('/integration/make', 'developer', make),
  onChange('/integration/revoke', 'developer', revoke),
]

type Kind = keyof typeof KINDS

/** The partner's credentials, who made each and when, and the forms that make another one, of which two may be live. */
export async function ownCredentials(
  visit: Visit,
  partner: Partner,
): Promise<{ list: Slot; rotating: Slot }> {
  const rows = await listCredentials(visit.context.database, partner.partnerId)
  const forms = (Object.keys(KINDS) as Kind[]).map(kind => {
    const live = rows.filter(row => row.kind === kind && row.revoked_at === null)
    return html`<h3>${KINDS[kind]}</h3>${
      live.length >= 2
        ? html`<p class="hint">Two are live: revoke the older one before you make another.</p>`
        : actionForm(visit, {
            action: '/integration/make',
            button: 'Make another',
            fields: html`<input type="hidden" name="kind" value="${kind}">`,
            why: `why-${kind}`,
          })
    }`
  })
  const rotating = part(
    'Rotate',
    html`<p class="hint">Make another one, change your program over, then revoke the older one: nothing is refused in between.</p>${forms}`,
  )
  return { list: await credentialPart(visit, partner), rotating }
}

async function make(visit: Visit): Promise<Answer> {
  const partner = await partnerOfDeveloper(visit)
  const kind: Kind = visit.form.get('kind') === 'api_key' ? 'api_key' : 'client_secret'
  const { id, secret } = await administer(visit, { partner, action: 'make credential' }, context =>
    rotateKey(partner.partnerId, kind, context),
  )
  return {
    title: `The new ${KINDS[kind].replace(/^C/, 'c')}`,
    body: html`<section class="notice" role="status"><h2>Keep it where secrets are kept</h2><p class="secret"><code>${secret}</code></p>
<p>It is not shown again. Its id is <code>${id}</code>.</p></section>
<p><a href="/integration">Back</a></p>`,
  }
}

async function revoke(visit: Visit): Promise<Answer> {
  const partner = await partnerOfDeveloper(visit)
  await administer(visit, { partner, action: 'revoke credential' }, context =>
    revokeKey(partner.partnerId, visit.form.get('credential') ?? '', context),
  )
  return { to: '/integration' }
}
