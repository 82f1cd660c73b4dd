import { html, type Slot } from '../../http/html.ts'
import { findRefusedCreatesAt } from '../../membership/commands/refused-creates.ts'
import { searchHash } from '../../membership/commands/search-hashes.ts'
import { isUuid } from '../../vault/uuid.ts'
import { hasRole } from '../operators/operator.ts'
import { ownPartners } from '../partners.ts'
import { record } from '../screen/record.ts'
import type { Answer, Screen, Visit } from '../screen/screen.ts'
import { tokenField } from '../views/layout.ts'
import { csvLink, type List, listFile, listTable, sortField } from '../views/list.ts'
import { part } from '../views/parts.ts'
import { refusedTable } from '../views/refused.ts'
import { type Found, findByHash, findById, findByName, MOST_FOUND } from './store.ts'

/** Finding a user, and the console's first page. */
export const findScreens: readonly Screen[] = [
  { method: 'GET', path: '/', role: 'viewer', answer: start },
  { method: 'POST', path: '/find', role: 'viewer', answer: find },
  { method: 'POST', path: '/find.csv', role: 'support', answer: download },
]

async function start(visit: Visit): Promise<Answer> {
  const partners = await ownPartners(visit)
  return {
    title: 'Find a user',
    body: html`<p class="lead">One field, above, takes whatever you have: a userid, a serviceid, the id of an event or a request, or the reference of a confirmation${hasRole(visit.operator, 'support') && '; of an account also its email or phone'}.</p>
<p class="hint">You work for ${visit.operator.partners === undefined ? 'all partners' : partners.map(({ name }) => name).join(', ')}.</p>`,
  }
}

async function find(visit: Visit): Promise<Answer> {
  const list = await listOf(visit)
  const [only, ...others] = list.rows
  const refused = only ? '' : await refusedOf(visit)
  await record(visit, { action: 'find', result: only || refused !== '' ? 'found' : 'nothing' })
  if (!only) return nothing(refused)
  if (others.length === 0) return { to: addressOf(only) }
  return {
    title: 'Several users',
    body: html`<form id="${FORM}" method="post" action="/find" hidden>${tokenField(visit.session.formToken)}<input type="hidden" name="what" value="${whatOf(visit)}">${sortField(visit.form)}</form>
${part('Found', await listTable(list, visit.form), hasRole(visit.operator, 'support') && csvLink(list, visit.form))}
${list.rows.length >= MOST_FOUND && html`<p class="hint">The first ${MOST_FOUND.toLocaleString('en-US')} are listed.</p>`}`,
  }
}

async function download(visit: Visit): Promise<Answer> {
  const list = await listOf(visit)
  await record(visit, { action: 'export found users', result: list.rows.length > 0 ? 'found' : 'nothing' })
  if (list.rows.length === 0) return nothing()
  return listFile(list, visit.form, 'found.csv')
}

const FORM = 'found'

function whatOf({ form }: Visit): string {
  return (form.get('what') ?? '').trim()
}

/** The found users; the form asks for them again in another order, because no address may contain what was typed. */
async function listOf(visit: Visit): Promise<List<Found>> {
  const what = whatOf(visit)
  const partners = await ownPartners(visit)
  const ids = partners.map(({ partnerId }) => partnerId)
  const names = new Map(partners.map(({ partnerId, name }) => [partnerId, name]))
  const partnerOf = ({ partnerId }: Found) => names.get(partnerId) ?? ''
  const byId = isUuid(what) ? await findById(visit.context.database, ids, what.toLowerCase()) : []
  // A partner may use ids of the same form as its userids.
  const isText = byId.length === 0 && what !== '' && what.length <= MOST_CHARACTERS
  const rows = isText ? await findByText(visit, ids, what) : byId
  return {
    path: '/find',
    formId: FORM,
    caption: 'Users found',
    empty: '',
    filters: {},
    rows,
    columns: [
      { name: 'partner', label: 'Partner', value: partnerOf },
      {
        name: 'serviceid',
        label: 'User',
        value: one => one.serviceId,
        cell: one => html`<a href="${addressOf(one)}"><code>${one.serviceId}</code></a>`,
      },
      { name: 'foundby', label: 'Found by', value: one => one.by },
    ],
  }
}

/** By a userid or reference; for operators who may see personal data also by email or phone. */
async function findByText(visit: Visit, ids: readonly string[], what: string): Promise<Found[]> {
  const { database, directory } = visit.context
  const named = await findByName(database, ids, what)
  const kind = /^\S+@\S+$/.test(what) ? 'email' : /^[-+().\s\d]{10,24}$/.test(what) ? 'phone' : undefined
  if (named.length > 0 || kind === undefined || !hasRole(visit.operator, 'support')) return named
  const partners = await Promise.all(ids.map(id => directory.partner(id)))
  return findByHash(
    database,
    partners.flatMap(partner =>
      partner ? [{ partnerId: partner.partnerId, hash: searchHash(partner, kind, what) }] : [],
    ),
  )
}

/** The refused attempts to enroll somebody under a userid that nobody has; empty where there were none. */
async function refusedOf(visit: Visit): Promise<Slot> {
  const { database, directory, terms } = visit.context
  const what = whatOf(visit)
  if (what === '' || what.length > MOST_CHARACTERS) return ''
  const own = await Promise.all((await ownPartners(visit)).map(one => directory.partner(one.partnerId)))
  const partners = own.filter(one => one !== undefined)
  const found = await findRefusedCreatesAt(database, partners, what)
  const parts = partners.flatMap(partner => {
    const refused = found.filter(({ partnerId }) => partnerId === partner.partnerId)
    if (refused.length === 0) return []
    const { catalogue } = terms(partner, () => undefined).today
    return [part(`Refused at ${partner.name}`, refusedTable(refused, { catalogue, zone: partner.timezone }))]
  })
  return parts.length === 0
    ? ''
    : html`<p>Nobody has this userid. Attempts to enroll somebody under it were refused.</p>${parts}`
}

function nothing(refused: Slot = ''): Answer {
  if (refused !== '') return { title: 'Not enrolled', body: refused }
  return {
    title: 'Nobody found',
    status: 404,
    body: html`<p>No user, event, request or reference of exactly this text is known at the partners that you work for.</p>
<ul class="rules"><li>A userid is case-sensitive; it is the partner's own name for the person.</li>
<li>A prefill is kept for 90 days. After that, and after an erasure, the name leads nowhere.</li>
<li>Events are kept for 30 days.</li><li>By email and phone only accounts are found, in full and exactly, and by support.</li></ul>`,
  }
}

function addressOf({ serviceId, eventId }: Found): string {
  return `/users/${serviceId}${eventId === undefined ? '' : `#event-${eventId}`}`
}

const MOST_CHARACTERS = 400
