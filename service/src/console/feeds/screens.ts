import type { Zone } from '../../calendar/calendar.ts'
import { type KeptDifference, openDifferences } from '../../feeds/difference-store.ts'
import { type RefusedLine, refusedOf } from '../../feeds/refused.ts'
import { listRuns, type Run } from '../../feeds/store.ts'
import { type Html, html, type Slot } from '../../http/html.ts'
import { operatorNames } from '../../operators/store.ts'
import { ownPartner, partnersOf } from '../partners.ts'
import { record } from '../screen/record.ts'
import { type Answer, type OperatorVisit, onGet, type Screen } from '../screen/screen.ts'
import { actionForm, section, shortId, table, when } from '../views/parts.ts'
import { linesOf, runTag } from './list.ts'
import { heldPart } from './release.ts'
import { keyOf, requiredFeed, seenPeople } from './seen.ts'

/** One feed: its runs, and what waits for somebody. */
export const feedScreens: readonly Screen[] = [onGet('/feeds/:feed', 'look', show)]

const RUNS_SHOWN = 20
const MOST_SHOWN = 200

async function show(visit: OperatorVisit): Promise<Answer> {
  const { database } = visit.context
  const { feed, insurer, benefits } = await requiredFeed(visit)
  await record(visit, { action: 'look at feed', result: 'shown' })
  const runs = await listRuns(database, feed, RUNS_SHOWN)
  const partners = () => partnersOf(visit)
  const refused = await refusedOf({ database, partners }, { feed, run: undefined })
  const differences = await openDifferences(database, feed, await seenPeople(visit))
  const [newest] = runs
  await recordPeople(visit, [
    ...refused
      .slice(0, MOST_SHOWN)
      .filter(({ text }) => text !== '')
      .map(({ serviceid: serviceId, partnerid: partnerId }) => ({ serviceId, partnerId })),
    ...differences.slice(0, MOST_SHOWN).filter(({ differs }) => differs.length > 0),
  ])
  return {
    title: `Feed ${feed}`,
    body: html`<p class="lead">Tells ${insurer} about ${benefits.join(', ')}.</p>
${newest?.status === 'held' && (await heldPart(visit, newest))}
${section('Refused', refusedTable(visit, refused))}
${section('Differences from the insurer’s own list', differencesTable(visit, feed, differences))}
${section(
  'Runs',
  runsTable(runs, await operatorNames(database), visit.zone),
  html`<span class="hint">The newest ${RUNS_SHOWN}</span>`,
)}
<p><a href="/feeds">All feeds</a></p>`,
  }
}

/** What an insurer says may be a name or a birth date: so each person of whom support sees it is on record first. */
async function recordPeople(
  visit: OperatorVisit,
  shown: readonly Pick<KeptDifference, 'serviceId' | 'partnerId'>[],
): Promise<void> {
  if (!visit.may('support')) return
  const people = new Map(shown.map(one => [one.serviceId, one.partnerId]))
  for (const [serviceId, partnerId] of people) {
    const partner = await ownPartner(visit, partnerId)
    await record(visit, { action: 'look at person', result: 'shown', partner, serviceId })
  }
}

function runsTable(runs: readonly Run[], operators: ReadonlyMap<string, string>, zone: Zone): Html {
  const named = (name: string) => operators.get(name) ?? name
  return table({
    caption: 'Runs, newest first',
    columns: ['Run', 'State', 'Lines', 'Made', 'Taken'],
    rows: runs.map(run => [
      run.run,
      html`${runTag(run)}${
        run.decidedBy !== undefined && html`<br><span class="hint">decided by ${named(run.decidedBy)}</span>`
      }`,
      html`${linesOf(run)}${run.isFull && html`<br><span class="hint">full</span>`}`,
      html`${when(run.madeAt, zone)}<br><span class="hint">by ${named(run.madeBy)}</span>`,
      run.takenAt === undefined ? '–' : when(run.takenAt, zone),
    ]),
    empty: 'It was never run.',
  })
}

function refusedTable(visit: OperatorVisit, refused: readonly RefusedLine[]): Slot {
  const isSupport = visit.may('support')
  const shown = refused.slice(0, MOST_SHOWN)
  const rows = table({
    caption: 'Refused lines that no accepted one has followed',
    columns: ['Line', 'User', 'Benefit', ...(isSupport ? ['Code', 'What the insurer said'] : [])],
    rows: shown.map(one => [
      `run ${one.run}, line ${one.line}`,
      userLink(visit, one.serviceid, one.userid),
      one.dependantid ? `${one.benefit}, of a dependant` : one.benefit,
      // What an insurer wrote may name the person.
      ...(isSupport ? [one.code, one.text || '–'] : []),
    ]),
    empty: 'Nothing is refused.',
  })
  return html`${rows}${more(refused.length)}
${
  isSupport &&
  shown.length > 0 &&
  html`<p class="hint">The next run says a refused line again, with what is true by then:
open the user and correct the cause, or ask the insurer where the person was erased. It is listed until the insurer
accepts it, or nothing is left to tell.</p>`
}`
}

const kindWords: Readonly<Record<KeptDifference['kind'], string>> = {
  missingthere: 'The insurer lacks it',
  unknownhere: 'Only the insurer has it',
  dates: 'Other dates',
  details: 'Other details',
  twice: 'Twice in its list',
}

function differencesTable(visit: OperatorVisit, feed: string, differences: readonly KeptDifference[]): Slot {
  const isSupport = visit.may('support')
  const now = visit.context.real()
  const shown = differences.slice(0, MOST_SHOWN)
  const rows = table({
    caption: 'What the insurer’s own list has otherwise, oldest first',
    columns: [
      'Difference',
      'User',
      'Benefit',
      ...(isSupport ? ['We say', 'The insurer says'] : []),
      'Age',
      ...(isSupport ? ['Choose'] : []),
    ],
    rows: shown.map(one => [
      kindWords[one.kind],
      one.serviceId === undefined
        ? html`<span class="hint">nobody here</span>`
        : userLink(visit, one.serviceId, one.userid),
      `${one.benefit || '–'}${one.person ? ', of a dependant' : ''}`,
      // What an insurer wrote may name the person.
      ...(isSupport ? [said(one, 'ours'), said(one, 'theirs')] : []),
      html`<time datetime="${new Date(one.foundAt).toISOString()}">${ageOf(now - one.foundAt)}</time>`,
      ...(isSupport ? [choice('differ', keyOf(one), `${kindWords[one.kind]}, ${one.benefit}`)] : []),
    ]),
    empty: 'None since the last comparison.',
  })
  if (!isSupport || shown.length === 0) return html`${rows}${more(differences.length)}`
  return html`${rows}${more(differences.length)}
<p class="hint">Where the insurer is right, open the user and correct it there.
Otherwise say it again with the next run. Who is only in its list, or there twice, only the insurer can mend.</p>
${actionForm(visit, {
  id: 'differ',
  action: `/feeds/${feed}/differ`,
  button: 'Say the chosen one again',
})}`
}

const valueWords: Readonly<Record<string, string>> = {
  startson: 'first day',
  endson: 'last day',
  firstname: 'first name',
  lastname: 'last name',
  dob: 'birth date',
}

function said({ differs }: KeptDifference, whose: 'ours' | 'theirs'): Slot {
  return differs.length === 0
    ? '–'
    : differs.map(one => html`${valueWords[one.value] ?? one.value}: ${one[whose] || 'nothing'}<br>`)
}

function choice(form: string, value: string, label: string): Html {
  return html`<input type="radio" name="one" value="${value}" form="${form}" aria-label="${label}" required>`
}

function userLink({ may }: OperatorVisit, serviceId: string, userid: string): Html {
  const name = may('support') && userid !== '' ? userid : shortId(serviceId)
  return html`<a href="/users/${serviceId}">${name}</a>`
}

function more(count: number): Slot {
  return count > MOST_SHOWN && html`<p class="hint">The first ${MOST_SHOWN} of ${count}.</p>`
}

function ageOf(ms: number): string {
  const days = Math.floor(ms / 86_400_000)
  return days === 0 ? 'today' : `${days} day${days === 1 ? '' : 's'}`
}
