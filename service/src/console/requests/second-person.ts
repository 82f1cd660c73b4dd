import { DAY_MS } from '../../calendar/calendar.ts'

/** The actions that a second operator must confirm, unless the policy switches that off. */
export const SECOND_PERSON_ACTIONS = ['void', 'move', 'erase', 'dateandlink', 'credentials'] as const
/** One of these actions. */
export type SecondPersonAction = (typeof SECOND_PERSON_ACTIONS)[number]

/** What the policy is about: these actions, and letting a held run of a feed go, which concerns many people at once. */
export const POLICY_ACTIONS = [...SECOND_PERSON_ACTIONS, 'release'] as const
/** One of these. */
export type PolicyAction = (typeof POLICY_ACTIONS)[number]

/** The settings of `enrolment operator policy`; an action that is not named needs a second person. */
export type SecondPersonPolicy = Readonly<Partial<Record<PolicyAction, boolean>>>

/** Whether an action needs a second person. */
export function needsSecond(policy: SecondPersonPolicy, action: PolicyAction): boolean {
  return policy[action] ?? true
}

/** For how many hours what a second person allowed to somebody may be done, where it is not done at once. */
export const ALLOWED_HOURS = 24

/** How long a request waits for a decision; long enough for a weekend and a holiday. */
export const REQUEST_LIFETIME_MS = 7 * DAY_MS
