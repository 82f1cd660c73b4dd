import { html, type Slot } from '../../http/html.ts'
import { changeEndpoint, type EndpointChanges } from '../../webhooks/endpoint/endpoints.ts'
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
import { answerInWords } from '../views/answer.ts'
import { actionForm, facts, section, table, when } from '../views/parts.ts'
import { type NamedEndpoint, requiredEndpoint } from '../webhooks/endpoint.ts'
import { countOf, healthInWords, stateTag } from '../webhooks/health.ts'
import { againPart, sendAgain } from '../webhooks/send-again.ts'
import { findNewestAttempts } from './store.ts'

const PATH = '/integration/endpoints/:endpointid'

/** One endpoint of the partner's own: its health, its newest attempts, sending again, and its credentials. */
export const endpointScreens: readonly Screen[] = [
  onGet(PATH, 'developer', visit => show(visit)),
  onChange(`${PATH}/replay`, 'developer', async visit =>
    show(visit, await sendAgain(visit, await requiredEndpoint(visit))),
  ),
  onChange(`${PATH}/credentials`, 'developer', setCredentials),
  onChange(`${PATH}/secret`, 'developer', rotateSecret),
]

async function show(visit: OperatorVisit, notice?: Slot): Promise<Answer> {
  const endpoint = await requiredEndpoint(visit)
  const { partner, line, target } = endpoint
  const { database, real } = visit.context
  const attempts = await findNewestAttempts(database, target)
  const now = real()
  const zone = partner.timezone
  const path = `/integration/endpoints/${line.endpoint_id}`
  return {
    title: `Endpoint ${new URL(line.url).host}`,
    body: html`${notice}
<section class="card across">${facts([
      ['State', html`${stateTag(line, now)} ${healthInWords(line, now, zone)}`],
      ['Waiting', countOf(line.waiting)],
      ['Given up', countOf(line.dead)],
      ['Address', html`<code>${line.url}</code>`],
      ['Made', when(line.created_at, zone)],
    ])}</section>
<div class="columns"><div>${section(
      'Attempts',
      table({
        caption: 'The newest attempts',
        columns: ['When', 'Event', 'Answer', 'Took'],
        rows: attempts.map(one => [
          html`${when(one.started_at, zone)}${
            one.attempt > 1 && html`<br><span class="hint">attempt ${one.attempt}</span>`
          }`,
          html`<code>${one.eventname}</code><br><code>${one.event_id}</code>`,
          answerInWords(one.status, one.error_class),
          `${one.total_ms} ms`,
        ]),
        empty: 'None for the newest events.',
      }),
    )}</div><div>${againPart(visit, endpoint)}
${section(
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
  html`<p class="hint">The present one signs beside the new one for another day.</p>
${actionForm(visit, { action: `${path}/secret`, button: 'Make a new one', why: 'why-secret' })}`,
)}</div></div>
<p><a href="/integration">All of the integration</a></p>`,
  }
}

async function setCredentials(visit: OperatorVisit): Promise<Answer> {
  const [username = '', password = ''] = ['username', 'password'].map(name => visit.form.get(name) ?? '')
  const endpoint = await requiredEndpoint(visit)
  await change(visit, endpoint, {
    action: 'set webhook credentials',
    changes: { credentials: { username, password } },
  })
  return { to: `/integration/endpoints/${endpoint.line.endpoint_id}` }
}

async function rotateSecret(visit: OperatorVisit): Promise<Answer> {
  const endpoint = await requiredEndpoint(visit)
  const secret = await change(visit, endpoint, {
    action: 'rotate signing secret',
    changes: { rotateSecret: true },
  })
  return show(
    visit,
    html`<section class="notice" role="status"><h2>Keep it where secrets are kept</h2>
<p class="secret"><code>${secret}</code></p><p>It is not shown again.</p></section>`,
  )
}

/** Changes the endpoint, on record; returns its new signing secret. Throws the refusal of wrong credentials, which names no value. */
async function change(
  visit: OperatorVisit,
  { partner, target }: NamedEndpoint,
  { action, changes }: { action: string; changes: Omit<EndpointChanges, 'url'> },
): Promise<string | undefined> {
  const reason = reasonOf(visit)
  const { database, real } = visit.context
  const changed = await database.transaction(async tx => {
    const input = { partner, endpointId: target.endpointId, changes }
    // No address is changed, so no rule about addresses is asked.
    const done = await changeEndpoint(tx, input, { rules: { sandbox: false, allow: [] }, real })
    if (done && !('refused' in done)) await tx.query(recordAlongside(visit, { action, partner, reason }))
    return done
  })
  if (!changed) throw notHere('webhook')
  if (!('refused' in changed)) return changed.webhooksecret
  await record(visit, { action, result: 'refused', partner, reason })
  throw new ConsoleRefusal(422, 'Not done', changed.refused.map(({ message }) => message).join(' '))
}
