import { dropRun } from '../../feeds/drop-run.ts'
import { askRelease, releaseBy, releaseRun } from '../../feeds/release.ts'
import { newestRun, type Run } from '../../feeds/store.ts'
import { html, type Slot } from '../../http/html.ts'
import { findSamePerson, operatorNames } from '../../operators/store.ts'
import { needsSecond, readPolicy } from '../requests/store.ts'
import { recordAlongside } from '../screen/record.ts'
import { type Answer, ConsoleRefusal, type OperatorVisit, onChange, type Screen } from '../screen/screen.ts'
import { actionForm, facts, section, when } from '../views/parts.ts'
import { linesOf } from './list.ts'
import { partnersOf, requiredFeed } from './seen.ts'

/** What is done with a held run. It is about people of every partner, so only who works for all of them decides. */
export const releaseScreens: readonly Screen[] = [
  onChange('/feeds/:feed/release', 'support', release),
  onChange('/feeds/:feed/drop', 'support', drop),
]

/** What is known of a held run, and the forms with which it is let go or dropped. */
export async function heldPart(visit: OperatorVisit, run: Run): Promise<Slot> {
  const names = await operatorNames(visit.context.database)
  const named = (name: string | undefined) => name && (names.get(name) ?? name)
  const path = `/feeds/${run.feed}`
  const what = await whatFor(visit, run)
  const number = html`<input type="hidden" name="run" value="${run.run}">`
  const forms =
    visit.may('support') && worksForAll(visit)
      ? html`${
          what === 'own'
            ? html`<p class="hint">You asked for it: another person has to let it go.</p>`
            : actionForm(visit, {
                action: `${path}/release`,
                button: what === 'ask' ? 'Ask to let it go' : 'Let it go',
                color: 'primary',
                fields: number,
              })
        }${actionForm(visit, { action: `${path}/drop`, button: 'Drop it', color: 'danger', fields: number })}`
      : html`<p class="hint">Support for all partners decides on it.</p>`
  return section(
    `Run ${run.run} is held`,
    html`<p>It takes away more cover than the feed lets go by itself. Nothing of it is sent, and no other run is made.
After it is dropped, the next run compares anew.</p>
${facts([
  ['Lines', linesOf(run)],
  ['Made', html`${when(run.madeAt, visit.zone)} by ${named(run.madeBy)}`],
  run.askedBy !== undefined && ['Asked for by', named(run.askedBy)],
])}${forms}`,
  )
}

async function whatFor(
  { context, operator }: OperatorVisit,
  run: Run,
): Promise<ReturnType<typeof releaseBy>> {
  const { database } = context
  const isSecondNeeded = needsSecond(await readPolicy(database), 'release')
  return releaseBy(run, await findSamePerson(database, operator.operatorId), isSecondNeeded)
}

function worksForAll({ operator }: OperatorVisit): boolean {
  return operator.partners === undefined
}

/** The held run that the form was about. Throws the refusal of somebody else's decision. */
async function heldRun(visit: OperatorVisit): Promise<Run> {
  const { feed } = await requiredFeed(visit)
  if (!worksForAll(visit))
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
  return new ConsoleRefusal(409, 'It is decided', 'Somebody has decided on this run already.')
}

async function release(visit: OperatorVisit): Promise<Answer> {
  const run = await heldRun(visit)
  const what = await whatFor(visit, run)
  const { operatorId } = visit.operator
  if (what === 'own')
    throw new ConsoleRefusal(
      403,
      'A second person is needed',
      'You asked for this yourself: somebody else has to let it go.',
    )
  await visit.context.database.transaction(async tx => {
    const isDone =
      what === 'ask' ? await askRelease(tx, run, operatorId) : await releaseRun(tx, run, operatorId)
    if (!isDone) throw decided()
    await tx.query(
      recordAlongside(visit, { action: what === 'ask' ? 'ask for feed release' : 'feed release' }),
    )
  })
  return { to: `/feeds/${run.feed}` }
}

async function drop(visit: OperatorVisit): Promise<Answer> {
  const run = await heldRun(visit)
  const partners = await partnersOf(visit)
  const by = visit.operator.operatorId
  await visit.context.database.transaction(async tx => {
    await dropRun(tx, run, { partners, by })
    await tx.query(recordAlongside(visit, { action: 'feed drop' }))
  })
  return { to: `/feeds/${run.feed}` }
}
