import { html } from '../../http/html.ts'
import { searchHash } from '../../membership/commands/search-hashes.ts'
import { hasRole } from '../operators/operator.ts'
import { record } from '../page/record.ts'
import type { Answer, Screen, Visit } from '../page/screen.ts'
import { isUuid, ownPartners } from '../partners.ts'
import { table } from '../views/parts.ts'
import { type Found, findByHash, findById, findByName } from './store.ts'

/** Finding a user, and the console's first page. */
export const findScreens: readonly Screen[] = [
  { method: 'GET', path: '/', role: 'viewer', section: 'users', answer: start },
  { method: 'POST', path: '/find', role: 'viewer', section: 'users', answer: find },
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
  const what = (visit.form.get('what') ?? '').trim()
  const partners = await ownPartners(visit)
  const ids = partners.map(({ partnerId }) => partnerId)
  const { database } = visit.context
  const found = isUuid(what)
    ? await findById(database, ids, what.toLowerCase())
    : what === '' || what.length > MOST_CHARACTERS
      ? []
      : await findByText(visit, ids, what)
  await record(visit, { action: 'find', result: found.length > 0 ? 'found' : 'nothing' })
  const [only, ...others] = found
  if (only && others.length === 0) return { to: addressOf(only) }
  if (!only) return nothing()
  const names = new Map(partners.map(({ partnerId, name }) => [partnerId, name]))
  return {
    title: 'Several users',
    body: table({
      caption: 'Users found',
      columns: ['Partner', 'User', 'Found by'],
      rows: found.map(one => [
        names.get(one.partnerId) ?? '',
        html`<a href="${addressOf(one)}"><code>${one.serviceId}</code></a>`,
        one.by,
      ]),
      empty: '',
    }),
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

function nothing(): Answer {
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
