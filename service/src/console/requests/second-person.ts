/** What a second operator has to confirm before it is done, unless the policy switches that off. */
export const SECOND_PERSON_ACTIONS = ['void', 'move', 'erase', 'publish'] as const
/** One of them. */
export type SecondPersonAction = (typeof SECOND_PERSON_ACTIONS)[number]

/** What `enrolment operator policy` has switched off or on; an action that is not named needs a second person. */
export type SecondPersonPolicy = Readonly<Partial<Record<SecondPersonAction, boolean>>>

/** Whether an action needs a second person. */
export function needsSecond(policy: SecondPersonPolicy, action: SecondPersonAction): boolean {
  return policy[action] ?? true
}

/** For how long a request waits for somebody to decide it; long enough for a weekend and a holiday. */
export const REQUEST_LIFETIME_MS = 7 * 86_400_000
