import { dropRun, releaseRun } from '../../feeds/release.ts'
import { newestRun, type Run } from '../../feeds/store.ts'
import { html, type Slot } from '../../http/html.ts'
import { operatorNames } from '../../operators/store.ts'
import { partnersOf } from '../partners.ts'
import { allPartners, askSecondPerson, needsSecondPerson, type RequestKind } from '../requests/request.ts'
import { waitingAbout } from '../requests/store.ts'
import { recordAlongside } from '../screen/record.ts'
import {
  type Answer,
  ConsoleRefusal,
  type OperatorVisit,
  onChange,
  reasonOf,
  type Screen,
} from '../screen/screen.ts'
import { actionForm, facts, section, when } from '../views/parts.ts'
import { linesOf } from './list.ts'
import { requiredFeed } from './seen.ts'

/** What is done with a held run. It is about people of every partner, so only who works for all of them decides. */
export const releaseScreens: readonly Screen[] = [
  onChange('/feeds/:feed/release', 'support', release),
  onChange('/feeds/:feed/drop', 'support', drop),
]

/** Letting a held run go, which takes two unless the policy says otherwise. */
export const releaseKind: RequestKind = {
  action: 'release',
  title: 'Let a held run go',
  color: 'danger',
  right: 'support',
  async preview(visit, { payload }) {
    const run = await newestRun(visit.context.database, String(payload['feed']))
    if (run?.status !== 'held' || run.run !== payload['run']) return { refused: DECIDED }
    return { shown: runFacts(run, visit, await operatorNames(visit.context.database)), effect: effectOf(run) }
  },
  async perform({ context, operator }, { payload }, decision) {
    const run = { feed: String(payload['feed']), run: Number(payload['run']) }
    return context.database.transaction(async tx => {
      if (!(await releaseRun(tx, run, operator.operatorId))) return { refused: DECIDED }
      for (const one of decision) await tx.query(one)
      return { to: `/feeds/${run.feed}` }
    })
  },
}

const DECIDED = 'Somebody has decided on this run already.'

function effectOf({ feed, run, lines }: Run): string {
  return `${feed} ${run}: ${lines} lines`
}

function runFacts(run: Run, { zone }: OperatorVisit, names: ReadonlyMap<string, string>): Slot {
  return facts([
    ['Run', html`<a href="/feeds/${run.feed}">${run.feed}</a> ${run.run}`],
    ['Lines', linesOf(run)],
    ['Made', html`${when(run.madeAt, zone)} by ${names.get(run.madeBy) ?? run.madeBy}`],
  ])
}

/** What is known of a held run, and the forms with which it is let go or dropped. */
export async function heldPart(visit: OperatorVisit, run: Run): Promise<Slot> {
  const { database, real } = visit.context
  const names = await operatorNames(database)
  const path = `/feeds/${run.feed}`
  const number = html`<input type="hidden" name="run" value="${run.run}">`
  const mayDecide = visit.may('support') && visit.operator.partners === undefined
  const asks = await needsSecondPerson(visit, 'release')
  const waiting = mayDecide ? await waitingAbout(database, await allPartners(visit), real()) : []
  const asked = waiting.find(({ action }) => action === 'release')
  return section(
    `Run ${run.run} is held`,
    html`<p>It takes away more cover than the feed lets go by itself. Nothing of it is sent, and no other run is made.
After it is dropped, the next run compares anew.</p>
${runFacts(run, visit, names)}${
  !mayDecide
    ? html`<p class="hint">Support for all partners decides on it.</p>`
    : html`${
        asked
          ? html`<p><a href="/requests/${asked.request_id}">Asked for by ${names.get(asked.asked_by)}</a></p>`
          : actionForm(visit, {
              action: `${path}/release`,
              button: asks ? 'Ask to let it go' : 'Let it go',
              color: 'primary',
              fields: number,
              why: 'why-release',
            })
      }${actionForm(visit, { action: `${path}/drop`, button: 'Drop it', color: 'danger', fields: number })}`
}`,
  )
}

/** The held run that the form was about. Throws the refusal of somebody else's decision. */
async function heldRun(visit: OperatorVisit): Promise<Run> {
  const { feed } = await requiredFeed(visit)
  if (visit.operator.partners !== undefined)
    throw new ConsoleRefusal(
      403,
      'Not for you',
      'A run is about people of every partner: somebody who works for all decides.',
    )
  const run = await newestRun(visit.context.database, feed)
  if (run?.status !== 'held' || String(run.run) !== visit.form.get('run')) throw decided()
  return run
}

function decided(): ConsoleRefusal {
  return new ConsoleRefusal(409, 'It is decided', DECIDED)
}

async function release(visit: OperatorVisit): Promise<Answer> {
  const run = await heldRun(visit)
  const reason = reasonOf(visit)
  const partner = await allPartners(visit)
  if (await needsSecondPerson(visit, 'release'))
    return askSecondPerson(visit, {
      action: 'release',
      partner,
      serviceId: undefined,
      reason,
      payload: { feed: run.feed, run: run.run },
      effect: effectOf(run),
    })
  await visit.context.database.transaction(async tx => {
    if (!(await releaseRun(tx, run, visit.operator.operatorId))) throw decided()
    await tx.query(recordAlongside(visit, { action: 'feed release', partner, reason }))
  })
  return { to: `/feeds/${run.feed}` }
}

async function drop(visit: OperatorVisit): Promise<Answer> {
  const run = await heldRun(visit)
  const partners = await partnersOf(visit)
  const by = visit.operator.operatorId
  await visit.context.database.transaction(async tx => {
    if (!(await dropRun(tx, run, { partners, by }))) throw decided()
    await tx.query(recordAlongside(visit, { action: 'feed drop' }))
  })
  return { to: `/feeds/${run.feed}` }
}
