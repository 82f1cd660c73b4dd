import { failureOf } from '../../db/failure.ts'
import type { Query } from '../../db/sql.ts'
import { html, type Slot } from '../../http/html.ts'
import { OperatorError } from '../../operator-error.ts'
import { type AdministerContext, isLastLive, revokeKey, rotateKey } from '../../partners/administer.ts'
import { lastUses } from '../../partners/credential-uses.ts'
import type { Partner } from '../../partners/partner.ts'
import type { CredentialRow } from '../../partners/store.ts'
import { ownPartner } from '../partners.ts'
import { accountsOf, allowedAlone, askToBeAllowed } from '../requests/request.ts'
import { ALLOWED_HOURS, useAllowance, waitingAbout } from '../requests/store.ts'
import { record, recordAlongside } from '../screen/record.ts'
import {
  type Answer,
  ConsoleRefusal,
  choiceOf,
  type OperatorVisit,
  onChange,
  reasonOf,
  type Screen,
} from '../screen/screen.ts'
import { type Column, dated, listTable } from '../views/list.ts'
import { actionForm, section, tag, when } from '../views/parts.ts'

/** The kinds of credentials in words. */
export const KINDS = { client_secret: 'Client secret', api_key: 'API key' } as const

type State = 'live' | 'revoked' | 'expired'

function stateOf({ revoked_at, expires_at }: CredentialRow, now: number): State {
  if (revoked_at !== null) return 'revoked'
  return expires_at === null || expires_at > now ? 'live' : 'expired'
}

/** The credentials on a partner's page, the oldest first, with the forms that revoke them. */
export async function credentialPart(
  visit: OperatorVisit,
  partner: Partner,
  rows: readonly CredentialRow[],
): Promise<Slot> {
  const { database, real } = visit.context
  const now = real()
  const uses = await lastUses(database, partner.partnerId)
  const revoking: Column<CredentialRow> = {
    name: 'revoke',
    label: 'Revoke',
    cell: row => {
      if (stateOf(row, now) !== 'live') return ''
      const isLast = isLastLive(row, rows)
      const why = html`<p class="hint">${whatStops(row, isLast, partner)}</p>`
      if (isLast && !visit.may('administer'))
        return html`<details><summary>Revoke</summary>${why}
<p class="hint">Make another one first, or let an admin revoke it.</p></details>`
      return html`<details><summary>Revoke</summary>${why}${actionForm(visit, {
        action: `/partners/${partner.partnerId}/revoke`,
        button: isLast ? 'Revoke the last one' : 'Revoke at once',
        color: 'danger',
        fields: html`<input type="hidden" name="credential" value="${row.credential_id}">`,
        why: `why-${row.credential_id}`,
      })}</details>`
    },
  }
  const columns: readonly Column<CredentialRow>[] = [
    {
      name: 'credential',
      label: 'Credential',
      cell: row => html`${KINDS[row.kind]}<br><code>${row.credential_id}</code>`,
    },
    {
      name: 'state',
      label: 'State',
      cell: row => tag(stateOf(row, now), stateOf(row, now) === 'live' ? 'good' : 'plain'),
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
    ...(visit.may('revoke') ? [revoking] : []),
  ]
  const caption = 'Credentials: who made them and when, and when they were last used'
  return section(
    'Credentials',
    html`${listTable({ caption, empty: 'No credential.', columns, rows })}
${
  visit.may('administer') &&
  html`<p class="hint">A new secret or key is made in the shell, by <code>enrolment key rotate ${partner.partnerId}</code>,
or by a developer of the partner whom you allow it:
whoever has one acts by the API without a second person.</p>`
}`,
  )
}

/** What a revoke stops, before anybody presses it. */
function whatStops({ kind }: CredentialRow, isLast: boolean, { apiKeyOptional }: Partner): string {
  const own =
    kind === 'client_secret'
      ? 'Within a second it gets no token, and the tokens that it got are refused.'
      : 'Within a second requests with it are refused.'
  if (!isLast) return `${own} Those with the partner's other one go on.`
  const isNeeded = kind === 'client_secret' || !apiKeyOptional
  return isNeeded
    ? `${own} The partner has no other that lasts: without one all its requests are refused.`
    : own
}

/** Making and revoking a partner's secrets and keys. */
export const rotatingScreens: readonly Screen[] = [
  onChange('/partners/:partnerid/make', 'rotate', make),
  onChange('/partners/:partnerid/ask', 'rotate', ask),
  onChange('/partners/:partnerid/revoke', 'revoke', revoke),
]

type Kind = keyof typeof KINDS

/** The forms that make another credential, of which two of a kind may be live. */
export async function rotatingPart(
  visit: OperatorVisit,
  partner: Partner,
  rows: readonly CredentialRow[],
): Promise<Slot> {
  const forms = (Object.keys(KINDS) as Kind[]).map(kind => {
    const live = rows.filter(row => row.kind === kind && row.revoked_at === null)
    return html`<h3>${KINDS[kind]}</h3>${
      live.length >= 2
        ? html`<p class="hint">Two are live: revoke the older one before you make another.</p>`
        : actionForm(visit, {
            action: `/partners/${partner.partnerId}/make`,
            button: 'Make another',
            fields: html`<input type="hidden" name="kind" value="${kind}">`,
            why: `why-${kind}`,
          })
    }`
  })
  const isAllowed = (await allowedAlone(visit, 'credentials', { partnerId: partner.partnerId })) !== undefined
  return section(
    'Rotate',
    html`<p class="hint">Make another one, change your program over, then revoke the older one:
nothing is refused in between. A webhook's signing secret is made on the page of the endpoint.</p>${
      isAllowed ? forms : await asking(visit, partner)
    }`,
  )
}

/** In place of the forms where an admin has to allow it first. */
async function asking(visit: OperatorVisit, { partnerId }: Partner): Promise<Slot> {
  const { database, real } = visit.context
  const waiting = await waitingAbout(database, { partnerId }, real())
  const accounts = await accountsOf(visit)
  return waiting.some(({ action, asked_by }) => action === 'credentials' && accounts.includes(asked_by))
    ? html`<p role="status">You have asked for it. When an admin has allowed it,
the forms are here for ${ALLOWED_HOURS} hours, until you have made one.</p>`
    : html`<p class="hint">An admin has to allow each one first.</p>${actionForm(visit, {
        action: `/partners/${partnerId}/ask`,
        button: 'Ask an admin',
        why: 'why-ask',
      })}`
}

async function ask(visit: OperatorVisit): Promise<Answer> {
  const partner = await ownPartner(visit)
  await askToBeAllowed(visit, 'credentials', { partner })
  return { to: `/partners/${partner.partnerId}` }
}

/**
 * Makes a secret of a partner, for which an admin's word holds once: `work` gets what has to be committed with it. Throws a refusal
 * without such a word.
 */
export async function withAllowance<T>(
  visit: OperatorVisit,
  { partner, action }: { readonly partner: Partner; readonly action: string },
  work: (alongside: readonly Query[]) => Promise<T>,
): Promise<T> {
  const refusal = async () => {
    await record(visit, { action, result: 'not alone', partner, reason: reasonOf(visit) })
    const where = 'on the page of the partner, under "Rotate".'
    return new ConsoleRefusal(409, 'Not alone', `An admin has to allow each one first: ask for it ${where}`)
  }
  const allowed = await allowedAlone(visit, 'credentials', { partnerId: partner.partnerId })
  if (!allowed) throw await refusal()
  try {
    return await work(allowed === 'by policy' ? [] : useAllowance(allowed, visit.requestId))
  } catch (error) {
    throw failureOf(error).lostRace ? await refusal() : error
  }
}

async function make(visit: OperatorVisit): Promise<Answer> {
  const partner = await ownPartner(visit)
  const deed = { partner, action: 'make credential' }
  const { id, secret, kind } = await withAllowance(visit, deed, async alongside => {
    const kind = choiceOf(visit, 'kind', KINDS)
    const made = await administer(visit, { ...deed, alongside }, context =>
      rotateKey(partner.partnerId, kind, context),
    )
    return { ...made, kind }
  })
  return {
    title: `The new ${KINDS[kind].replace(/^C/, 'c')}`,
    body: html`<section class="notice" role="status"><h2>Keep it where secrets are kept</h2><p
class="secret"><code>${secret}</code></p>
<p>It is not shown again. Its id is <code>${id}</code>.</p></section>
<p><a href="/partners/${partner.partnerId}">Back</a></p>`,
  }
}

/** Revokes a credential. The last live one, without which all requests are refused, is for an admin alone. */
async function revoke(visit: OperatorVisit): Promise<Answer> {
  const partner = await ownPartner(visit)
  const keepsLast = !visit.may('administer')
  await administer(visit, { partner, action: 'revoke credential' }, context =>
    revokeKey(partner.partnerId, visit.form.get('credential') ?? '', { ...context, keepsLast }),
  )
  return { to: `/partners/${partner.partnerId}` }
}

/**
 * Does to a partner what a command can do, on record and for the reason in the form; `alongside` is committed with it. A
 * refusal of the command appears here with the same sentence, without the dashes of its options and without the commands
 * that it advises.
 */
export async function administer<T>(
  visit: OperatorVisit,
  { partner, action, alongside = [] }: { partner: Partner; action: string; alongside?: readonly Query[] },
  work: (context: AdministerContext) => Promise<T>,
): Promise<T> {
  const deed = recordAlongside(visit, { action, partner, reason: reasonOf(visit) })
  try {
    const done = await work({
      ...visit.context,
      knownOffers: [],
      by: visit.operator.name,
      alongside: [...alongside, deed],
    })
    visit.context.directory.forget(partner.partnerId)
    return done
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    throw new ConsoleRefusal(
      409,
      'Not done',
      error.message.replace(/(?<=^|\s)--(?=[a-z])/g, '').replace(/: [^:`]*`[^`]*`[^.]*/g, ''),
    )
  }
}
