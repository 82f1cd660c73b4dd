import type { Instant } from '../../calendar/calendar.ts'
import { afterChange } from './apply-due.ts'
import { linesOf, type StoredLine, type Why } from './history.ts'
import type { Changed } from './intents.ts'
import type { User } from './state.ts'
import type { Terms } from './terms.ts'

/** The effect of a change on a user, computed beforehand by the functions that will make the change. */
export type Effect = {
  readonly lines: readonly StoredLine[]
  readonly events: readonly string[]
  /** The same effect as one text: two changes with equal texts have the same effect. */
  readonly text: string
}

/** The history lines that an operator's change would write, and the events that it would raise. */
export function effectOf(
  changed: Changed,
  { user, now, terms }: { readonly user: User; readonly now: Instant; readonly terms: Terms },
  why: Why,
): Effect {
  const after = afterChange(changed, { user, now, terms })
  const lines = linesOf({ at: now, before: user, after, events: changed.events }, 'operator', why)
  const events = changed.events.map(({ eventname }) => eventname)
  const moves = lines.map(({ why: _, ...move }) => move)
  return { lines, events, text: JSON.stringify([moves, events]) }
}
