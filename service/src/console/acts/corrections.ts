import type { PlainDate } from '../../calendar/calendar.ts'
import { html, type Slot } from '../../http/html.ts'
import { correctCover, movableCovers } from '../../membership/rules/correct-cover.ts'
import { correctEnrolment, movable, voidable } from '../../membership/rules/corrections.ts'
import { daysOf } from '../../membership/rules/family.ts'
import { because, refuse } from '../../membership/rules/refusal.ts'
import { type Enrolment, isLive } from '../../membership/rules/state.ts'
import { isAskedDay } from '../screen/screen.ts'
import { selectField, writeDay } from '../views/parts.ts'
import { benefitName, dependantName, stateWords } from '../views/told.ts'
import type { Act, UserState } from './act.ts'

/** Voids an enrolment, as if it had never been: the console says *take back*. */
export const voidEnrolment: Act & { readonly second: 'void' } = {
  name: 'void',
  title: 'Take back an enrollment',
  button: 'Take it back',
  color: 'danger',
  second: 'void',
  fits: ({ user }) => voidable(user).length > 0,
  fields: moment =>
    html`<p class="hint">For what should never have been. It stays in the history;
the partner hears that it was corrected. What should only stop is canceled, swapped or given an end. With an enrollment goes
whoever it covers; the cover of a dependant goes alone.</p>
${choice(moment, voidable(moment.user), movableCovers(moment.user))}`,
  why: () => 'correction: void',
  decide: (form, { user, now, terms }) => {
    const { enrolmentId, dependantId } = chosenIn(form)
    if (dependantId) return correctCover(user, { enrolmentId, dependantId, isVoid: true }, now, terms)
    return correctEnrolment(user, { kind: 'void', enrolmentId }, now, terms)
  },
}

/** Gives an enrolment the dates that it should have had. */
export const moveEnrolment: Act & { readonly second: 'move' } = {
  name: 'move',
  title: 'Move a date',
  button: 'Move it',
  second: 'move',
  fits: ({ user }) => movable(user).length > 0,
  fields: moment =>
    html`<p class="hint">The enrollment as it was is kept in the history, and one with these dates takes its place.
A field left empty stays as it is. Days are those of ${moment.terms.zone}. Days of a dependant move alone, and the price follows who is
covered on each day.</p>
${choice(moment, movable(moment.user), movableCovers(moment.user))}
<p class="field"><label for="firstday">First day of cover</label><input id="firstday" name="firstday" type="date"></p>
<p class="field"><label for="lastday">Last day of cover</label><input id="lastday" name="lastday" type="date"></p>`,
  why: () => 'correction: dates',
  decide: (form, { user, now, terms }) => {
    const [firstDay, lastDay] = [form.get('firstday') ?? '', form.get('lastday') ?? '']
    if ([firstDay, lastDay].some(day => day !== '' && !isAskedDay(day)))
      return refuse('bad_request', [because('dates', 'not_a_date', 'That is no date.')])
    const { enrolmentId, dependantId } = chosenIn(form)
    const days = { firstDay: parseDay(firstDay), lastDay: parseDay(lastDay) }
    if (dependantId) return correctCover(user, { enrolmentId, dependantId, ...days }, now, terms)
    return correctEnrolment(user, { kind: 'move', enrolmentId, ...days }, now, terms)
  },
}

/** The enrolment that is chosen, or the dependant in it. */
function chosenIn(form: URLSearchParams) {
  const [enrolmentId = '', dependantId] = (form.get('enrolment') ?? '').split(' ')
  return { enrolmentId, dependantId }
}

function parseDay(text: string): PlainDate | undefined {
  return isAskedDay(text) ? text : undefined
}

function choice(
  moment: UserState,
  enrolments: readonly Enrolment[],
  covers: ReturnType<typeof movableCovers> = [],
): Slot {
  // The first is chosen until the operator chooses another: one that is over is hardly ever meant.
  const ordered = [...enrolments].sort((a, b) => Number(isLive(b)) - Number(isLive(a)))
  const { zone } = moment.terms
  const options = ordered.flatMap(one => {
    const name = benefitName(moment, one.benefit)
    const own = [one.id, `${name}, ${stateWords(one.state)}${datesOf(one, zone)}`] as const
    const others = covers
      .filter(({ enrolment }) => enrolment === one)
      .map(({ covered }) => {
        const { startsAt, endsAt } = daysOf(one, covered)
        const end = endsAt === undefined ? 'open' : writeDay(endsAt - 1, zone)
        const whose = dependantName(moment, covered.dependantId)
        const option = `${name}, ${whose}: ${writeDay(startsAt, zone)} – ${end}`
        return [`${one.id} ${covered.dependantId}`, option] as const
      })
    return [own, ...others]
  })
  return selectField('enrolment', 'Which', options)
}

function datesOf({ state, startsAt, endsAt, ownEnd }: Enrolment, zone: string): string {
  if (!['scheduled', 'enrolled', 'endscheduled', 'ended'].includes(state)) return ''
  const end = endsAt ?? ownEnd?.at
  const start = writeDay(startsAt, zone)
  return end === undefined ? ` from ${start}` : `: ${start} – ${writeDay(end - 1, zone)}`
}

/** The corrections that an operator can make to a person's enrolments. */
export const corrections: readonly Act[] = [voidEnrolment, moveEnrolment]
