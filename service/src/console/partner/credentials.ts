import { html, type Slot } from '../../http/html.ts'
import { lastUses } from '../../partners/credential-uses.ts'
import type { Partner } from '../../partners/partner.ts'
import { type CredentialRow, listCredentials } from '../../partners/store.ts'
import type { OperatorVisit } from '../screen/screen.ts'
import { type Column, dated, type List, listTable } from '../views/list.ts'
import { actionForm, section, tag, when } from '../views/parts.ts'

/** The kinds of credentials in words. */
export const KINDS = { client_secret: 'Client secret', api_key: 'API key' } as const

/** A partner's credentials, the oldest first. */
async function credentialList(visit: OperatorVisit, partner: Partner): Promise<List<CredentialRow>> {
  const { database, real } = visit.context
  const [rows, uses] = await Promise.all([
    listCredentials(database, partner.partnerId),
    lastUses(database, partner.partnerId),
  ])
  const stateOf = ({ revoked_at, expires_at }: CredentialRow) => {
    if (revoked_at !== null) return 'revoked'
    return expires_at === null || expires_at > real() ? 'live' : 'expired'
  }
  const hasAnother = ({ kind }: CredentialRow) =>
    rows.filter(one => one.kind === kind && stateOf(one) === 'live').length > 1
  const isOwn = visit.operator.role === 'developer'
  const path = isOwn ? '/integration' : `/partners/${partner.partnerId}`
  const revoking: Column<CredentialRow> = {
    name: 'revoke',
    label: 'Revoke',
    cell: row =>
      stateOf(row) === 'live' &&
      html`<details><summary>Revoke</summary>
<p class="hint">${whatStops(row, hasAnother(row), partner)}</p>${actionForm(visit, {
        action: `${path}/revoke`,
        button: 'Revoke at once',
        color: 'danger',
        fields: html`<input type="hidden" name="credential" value="${row.credential_id}">`,
        why: `why-${row.credential_id}`,
      })}</details>`,
  }
  return {
    caption: 'Credentials: who made them and when, and when they were last used',
    empty: 'No credential.',
    rows,
    columns: [
      {
        name: 'credential',
        label: 'Credential',
        cell: row => html`${KINDS[row.kind]}<br><code>${row.credential_id}</code>`,
      },
      {
        name: 'state',
        label: 'State',
        cell: row => (stateOf(row) === 'live' ? tag('live', 'good') : tag(stateOf(row))),
      },
      dated('made', 'Made', row => row.created_at, partner.timezone),
      { name: 'madeby', label: 'By', value: row => row.made_by },
      {
        name: 'lastused',
        label: 'Last used',
        cell: row => {
          const at = uses.get(row.credential_id)
          return at === undefined ? html`<span class="hint">never</span>` : when(at, partner.timezone)
        },
      },
      ...(visit.isAdmin || isOwn ? [revoking] : []),
    ],
  }
}

/** The credentials on a partner's page, with the forms that revoke them for an admin. */
export async function credentialPart(visit: OperatorVisit, partner: Partner): Promise<Slot> {
  const list = await credentialList(visit, partner)
  return section(
    'Credentials',
    html`${listTable(list)}
${
  visit.isAdmin &&
  html`<p class="hint">A new secret or key is made in the shell,
by <code>enrolment key rotate ${partner.partnerId}</code>:
whoever has one acts by the API without a second person.</p>`
}`,
  )
}

/** What a revoke stops, before anybody presses it. */
function whatStops({ kind }: CredentialRow, hasOther: boolean, { apiKeyOptional }: Partner): string {
  const own =
    kind === 'client_secret'
      ? 'Within a second it gets no token, and the tokens that it got are refused.'
      : 'Within a second requests with it are refused.'
  if (hasOther) return `${own} Those with the partner's other one go on.`
  const isNeeded = kind === 'client_secret' || !apiKeyOptional
  return isNeeded ? `${own} The partner has no other: all its requests are refused until you make one.` : own
}
