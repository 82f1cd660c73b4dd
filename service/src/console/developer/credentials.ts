import { html, type Slot } from '../../http/html.ts'
import { revokeKey, rotateKey } from '../../partners/administer.ts'
import type { Partner } from '../../partners/partner.ts'
import { listCredentials } from '../../partners/store.ts'
import { administer } from '../partner/administer.ts'
import { credentialPart, KINDS } from '../partner/credentials.ts'
import { accountsOf, askToBeAllowed, mayAlone } from '../requests/ask.ts'
import { ALLOWED_HOURS } from '../requests/second-person.ts'
import { waitingAbout } from '../requests/store.ts'
import { record } from '../screen/record.ts'
import {
  type Answer,
  ConsoleRefusal,
  choiceOf,
  type OperatorVisit,
  onChange,
  reasonOf,
  type Screen,
} from '../screen/screen.ts'
import { actionForm, section } from '../views/parts.ts'
import { partnerOfDeveloper } from './own-partner.ts'

/** Making and revoking the partner's own secrets and keys. */
export const credentialScreens: readonly Screen[] = [
  onChange('/integration/make', 'developer', make),
  onChange('/integration/ask', 'developer', ask),
  onChange('/integration/revoke', 'developer', revoke),
]

type Kind = keyof typeof KINDS

/** The partner's credentials, who made each and when, and the forms that make another one, of which two may be live. */
export async function ownCredentials(
  visit: OperatorVisit,
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
  const isAlone = await mayAlone(visit, 'credentials', { partnerId: partner.partnerId })
  const rotating = section(
    'Rotate',
    html`<p class="hint">Make another one, change your program over, then revoke the older one:
nothing is refused in between.</p>${isAlone ? forms : await asking(visit, partner)}`,
  )
  return { list: await credentialPart(visit, partner), rotating }
}

/** In place of the forms where an admin has to allow it first. */
async function asking(visit: OperatorVisit, { partnerId }: Partner): Promise<Slot> {
  const { database, real } = visit.context
  const waiting = await waitingAbout(database, { partnerId }, real())
  const accounts = await accountsOf(visit)
  return waiting.some(({ action, asked_by }) => action === 'credentials' && accounts.includes(asked_by))
    ? html`<p role="status">You have asked for it. When an admin has allowed it,
the forms are here for ${ALLOWED_HOURS} hours.</p>`
    : html`<p class="hint">An admin has to allow it first.</p>${actionForm(visit, {
        action: '/integration/ask',
        button: 'Ask an admin',
        why: 'why-ask',
      })}`
}

async function ask(visit: OperatorVisit): Promise<Answer> {
  await askToBeAllowed(visit, 'credentials', { partner: await partnerOfDeveloper(visit) })
  return { to: '/integration' }
}

async function make(visit: OperatorVisit): Promise<Answer> {
  const partner = await partnerOfDeveloper(visit)
  if (!(await mayAlone(visit, 'credentials', { partnerId: partner.partnerId }))) {
    await record(visit, { action: 'make credential', result: 'not alone', partner, reason: reasonOf(visit) })
    throw new ConsoleRefusal(409, 'Not alone', 'An admin has to allow it first: ask under "Rotate".')
  }
  const kind = choiceOf(visit, 'kind', KINDS)
  const { id, secret } = await administer(visit, { partner, action: 'make credential' }, context =>
    rotateKey(partner.partnerId, kind, context),
  )
  return {
    title: `The new ${KINDS[kind].replace(/^C/, 'c')}`,
    body: html`<section class="notice" role="status"><h2>Keep it where secrets are kept</h2><p
class="secret"><code>${secret}</code></p>
<p>It is not shown again. Its id is <code>${id}</code>.</p></section>
<p><a href="/integration">Back</a></p>`,
  }
}

async function revoke(visit: OperatorVisit): Promise<Answer> {
  const partner = await partnerOfDeveloper(visit)
  await administer(visit, { partner, action: 'revoke credential' }, context =>
    revokeKey(partner.partnerId, visit.form.get('credential') ?? '', context),
  )
  return { to: '/integration' }
}
