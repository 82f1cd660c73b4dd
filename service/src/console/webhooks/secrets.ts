import type { Query } from '../../db/sql.ts'
import { html, type Slot } from '../../http/html.ts'
import { changeEndpoint, type EndpointChanges } from '../../webhooks/endpoint/endpoints.ts'
import { withAllowance } from '../partner/credentials.ts'
import { record, recordAlongside } from '../screen/record.ts'
import {
  type Answer,
  ConsoleRefusal,
  notHere,
  type OperatorVisit,
  onChange,
  reasonOf,
  type Screen,
} from '../screen/screen.ts'
import { actionForm, section } from '../views/parts.ts'
import { type NamedEndpoint, requiredEndpoint } from './endpoint.ts'
import type { EndpointLine } from './store.ts'

const PATH = '/webhooks/:endpointid'

/** An endpoint's credentials and signing secret, for the partner's own engineers. */
export const endpointSecretScreens: readonly Screen[] = [
  onChange(`${PATH}/credentials`, 'rotate', setCredentials),
  onChange(`${PATH}/secret`, 'rotate', rotateSecret),
]

/** The forms that set them. */
export function endpointSecretParts(visit: OperatorVisit, { endpoint_id }: EndpointLine): Slot {
  const path = `/webhooks/${endpoint_id}`
  return html`${section(
    'Credentials',
    html`<p class="hint">New ones are sent first from now on, and the present ones after a 401,
until the new ones were accepted.</p>
${actionForm(visit, {
  action: `${path}/credentials`,
  button: 'Set them',
  fields: html`<p class="field"><label for="username">User name</label><input id="username" name="username"
autocomplete="off" required></p>
<p class="field"><label for="password">Password</label><input id="password" name="password" type="password"
autocomplete="new-password" required></p>`,
  why: 'why-credentials',
})}`,
  )}
${section(
  'Signing secret',
  html`<p class="hint">The present one signs beside the new one for another day. An admin has to allow each one, on the page of the
partner: whoever has it can make events that your receiver believes.</p>
${actionForm(visit, { action: `${path}/secret`, button: 'Make a new one', why: 'why-secret' })}`,
)}`
}

async function setCredentials(visit: OperatorVisit): Promise<Answer> {
  const [username = '', password = ''] = ['username', 'password'].map(name => visit.form.get(name) ?? '')
  const endpoint = await requiredEndpoint(visit)
  const changes = { credentials: { username, password } }
  await change(visit, endpoint, { action: 'set webhook credentials', changes })
  return { to: `/webhooks/${endpoint.line.endpoint_id}` }
}

async function rotateSecret(visit: OperatorVisit): Promise<Answer> {
  const endpoint = await requiredEndpoint(visit)
  const action = 'rotate signing secret'
  const secret = await withAllowance(visit, { partner: endpoint.partner, action }, alongside =>
    change(visit, endpoint, { action, changes: { rotateSecret: true }, alongside }),
  )
  return {
    title: 'The new signing secret',
    body: html`<section class="notice" role="status"><h2>Keep it where secrets are kept</h2>
<p class="secret"><code>${secret}</code></p><p>It is not shown again.</p></section>
<p><a href="/webhooks/${endpoint.line.endpoint_id}">Back</a></p>`,
  }
}

/** Changes the endpoint, on record; returns its new signing secret. Throws the refusal of wrong credentials, which names no value. */
async function change(
  visit: OperatorVisit,
  { partner, target }: NamedEndpoint,
  asked: {
    readonly action: string
    readonly changes: Omit<EndpointChanges, 'url'>
    readonly alongside?: readonly Query[]
  },
): Promise<string | undefined> {
  const reason = reasonOf(visit)
  const { action, changes, alongside = [] } = asked
  const { database, real } = visit.context
  const changed = await database.transaction(async tx => {
    const input = { partner, endpointId: target.endpointId, changes }
    // No address is changed, so no rule about addresses is asked.
    const done = await changeEndpoint(tx, input, { rules: { sandbox: false, allow: [] }, real })
    if (done && !('refused' in done))
      for (const one of [...alongside, recordAlongside(visit, { action, partner, reason })])
        await tx.query(one)
    return done
  })
  if (!changed) throw notHere('webhook')
  if (!('refused' in changed)) return changed.webhooksecret
  await record(visit, { action, result: 'refused', partner, reason })
  throw new ConsoleRefusal(422, 'Not done', changed.refused.map(({ message }) => message).join(' '))
}
