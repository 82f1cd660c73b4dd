import { html } from '../../http/html.ts'
import { record } from '../screen/record.ts'
import { type Answer, type OperatorVisit, onPost, type Screen } from '../screen/screen.ts'
import { dated, type List, listPart } from '../views/list.ts'
import { section, shortId } from '../views/parts.ts'
import { refusedTable } from '../views/refused.ts'
import { STATUSES } from '../views/told.ts'
import { type FoundUser, type LookedUp, lookUp, MOST_FOUND, type NamedUser, namedUsers } from './look-up.ts'

/** Finding a user. */
export const findScreens: readonly Screen[] = [onPost('/find', 'look', find)]

async function find(visit: OperatorVisit): Promise<Answer> {
  const lookedUp = await lookUpFor(visit)
  const { found, refusedBy } = lookedUp
  const [only, ...others] = found
  await record(visit, { action: 'find', result: only || refusedBy !== undefined ? 'found' : 'nothing' })
  if (!only) return refusedBy === undefined ? nothing() : refusedPage(visit, lookedUp)
  if (others.length === 0) return { to: addressOf(only) }
  const list = listOf(visit, await namedUsers(visit.context.database, found))
  return {
    title: 'Several users',
    body: html`${listPart('Found', list)}
${found.length >= MOST_FOUND && html`<p class="hint">The first ${MOST_FOUND.toLocaleString('en-US')} are listed.</p>`}`,
  }
}

function whatOf({ form }: OperatorVisit): string {
  return form.get('what') ?? ''
}

/** What the operator typed, at the partners for which the operator works. */
async function lookUpFor(visit: OperatorVisit): Promise<LookedUp> {
  const { database, directory } = visit.context
  return lookUp({
    database,
    partner: id => directory.partner(id),
    partnerIds: [...visit.partnerNames.keys()],
    what: whatOf(visit),
    seesPersons: visit.may('support'),
  })
}

/** The found users. */
function listOf(visit: OperatorVisit, rows: readonly NamedUser[]): List<NamedUser> {
  const userOf = ({ userid, serviceId }: NamedUser) => (visit.may('support') ? userid : shortId(serviceId))
  const partnerOf = ({ partnerId }: NamedUser) => visit.partnerNames.get(partnerId) ?? ''
  return {
    caption: 'Users found',
    empty: '',
    rows,
    columns: [
      { name: 'partner', label: 'Partner', value: partnerOf },
      {
        name: 'user',
        label: 'User',
        cell: one => html`<a href="${addressOf(one)}">${userOf(one)}</a>`,
      },
      { name: 'state', label: 'State', value: one => STATUSES[one.status] ?? one.status },
      dated(
        'lastseen',
        'Last seen',
        one => one.lastSeenAt,
        one => visit.zoneOf(one.partnerId),
      ),
      { name: 'foundby', label: 'Found by', value: one => one.by },
    ],
  }
}

/** Attempts to enroll somebody who is no user here. */
async function refusedPage(visit: OperatorVisit, lookedUp: LookedUp): Promise<Answer> {
  const { directory, terms } = visit.context
  const ids = [...visit.partnerNames.keys()]
  const own = await Promise.all(ids.map(id => directory.partner(id)))
  const parts = own.flatMap(partner => {
    const here = partner ? lookedUp.refused.filter(({ partnerId }) => partnerId === partner.partnerId) : []
    if (!partner || here.length === 0) return []
    const { catalogue } = terms(partner, () => undefined).today
    const shown = { catalogue, zone: partner.timezone }
    return [
      section(`Refused at ${partner.name}`, refusedTable(here, { ...shown, sought: whatOf(visit).trim() })),
    ]
  })
  return { title: 'Not enrolled', body: html`<p>${refusedWords(lookedUp)}</p>${parts}` }
}

function refusedWords({ refused, refusedBy, isSure }: LookedUp): string {
  if (refusedBy === 'userid')
    return 'Nobody has this userid. Attempts to enroll somebody under it were refused.'
  const since = isSure
    ? 'Nobody has come under its userid since.'
    : 'Too many users have come since to say whether that person is among them: ask the caller for the userid, and search for it.'
  const others = refused.length > 1 ? ' Other attempts with the same userid are listed with it.' : ''
  return `This request tried to enroll somebody, and was refused. ${since}${others}`
}

function nothing(): Answer {
  return {
    title: 'Nobody found',
    status: 404,
    body: html`<p>No user, event, request or reference of exactly this text is known
at the partners that you work for.</p>
<ul class="rules"><li>A userid is case-sensitive; it is the partner's own name for the person.</li>
<li>A prefill is kept for 90 days. After that the name leads nowhere; after an erasure only to its certificate.</li>
<li>Of requests those are known that read or changed a user, and for 90 days those that could not enroll somebody.</li>
<li>Events are kept for 30 days.</li>
<li>An email and a phone number are found in full and exactly, by support.</li></ul>`,
  }
}

function addressOf({ serviceId, eventId, refusedRequestId }: FoundUser): string {
  const fragment =
    eventId === undefined ? refusedRequestId && `request-${refusedRequestId}` : `event-${eventId}`
  return `/users/${serviceId}${fragment === undefined ? '' : `#${fragment}`}`
}
