/** What the database says of a user, as far as the writes decide it. */
export type UserState = {
  readonly status: string
  /** The events of each change, the oldest change first. */
  readonly changes: readonly (readonly string[])[]
  readonly documents: number
  readonly keys: number
  /** Whether the erasure is in the list of erasures. */
  readonly isListed: boolean
}

/** The state of a user for whom nothing has taken effect. */
export const nobody: UserState = { status: 'none', changes: [], documents: 0, keys: 0, isListed: false }

/** The user after a write has taken effect once; `undefined` where the service refuses the write. */
type Effect = (user: UserState) => UserState | undefined

/** What each kind of write does; a kind that begins with `due` is a change that takes effect by itself. */
const effects = {
  prefill: user =>
    user.status === 'none' || user.status === 'prefilled'
      ? changed(user, ['enrollment_request_received'], { status: 'prefilled', documents: 1, keys: 1 })
      : undefined,
  create: user =>
    ['none', 'prefilled', 'registering'].includes(user.status)
      ? changed(user, ['enrollment_successful', 'offer_activiation_successful'], {
          status: 'active',
          documents: 1,
          keys: 1,
        })
      : undefined,
  'page open': user =>
    user.status === 'prefilled' ? changed(user, [], { status: 'registering' }) : undefined,
  // What a person answers on the page before enrolling is kept, and raises no event.
  'page step': user => (user.status === 'registering' ? changed(user, [], { documents: 2 }) : undefined),
  import: user =>
    user.status === 'none' ? changed(user, [], { status: 'active', documents: 1, keys: 1 }) : undefined,
  cancel: ifActive(user => changed(user, ['offer_cancel_scheduled'])),
  'due cancel': ifActive(user => changed(user, ['offer_cancel_successful'], { status: 'cancelled' })),
  'change offer': ifActive(user => changed(user, ['offer_change_scheduled'])),
  swap: ifActive(user => changed(user, ['user_benefits_pendingswap'])),
  'due downgrade and swap': ifActive(user =>
    changed(user, [
      'offer_downgrade_successful',
      'offer_activiation_successful',
      'user_benefits_swap_successful',
    ]),
  ),
  erase: user =>
    user.status === 'none' || user.status === 'erased'
      ? undefined
      : changed(user, [...(user.status === 'active' ? ['offer_cancel_successful'] : []), 'user_erased'], {
          status: 'erased',
          documents: 0,
          keys: 0,
          isListed: true,
        }),
} satisfies Readonly<Record<string, Effect>>

/** A kind of write that the ledger knows. */
export type Kind = keyof typeof effects

function changed(user: UserState, events: readonly string[], more: Partial<UserState> = {}): UserState {
  return { ...user, ...more, changes: [...user.changes, events] }
}

function ifActive(effect: (user: UserState) => UserState): Effect {
  return user => (user.status === 'active' ? effect(user) : undefined)
}

/**
 * The states that a user may be in after these writes: each that was acknowledged has had one effect, and each other
 * one has had one or none. Empty when something was acknowledged that cannot have been.
 */
export function possibleStates(
  entries: readonly { readonly kind: Kind; readonly isAcknowledged: boolean }[],
): readonly UserState[] {
  let states: readonly UserState[] = [nobody]
  for (const { kind, isAcknowledged } of entries) {
    const later = states.map(effects[kind]).filter(state => state !== undefined)
    states = isAcknowledged ? later : [...states, ...later]
  }
  return states
}
