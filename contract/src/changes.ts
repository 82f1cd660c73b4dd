/** The versions of the interface that can be described (interface §9). */
export type InterfaceVersion = '1.0.1' | '1.0.2'

/** One version of the interface and how it differs from the one before. */
export type InterfaceChange = {
  readonly version: InterfaceVersion
  /** The day since which the service describes this version, `YYYY-MM-DD`. */
  readonly describedsince: string
  readonly changes: readonly string[]
}

/** The versions of the interface, the newest first (interface §9, contract §13). */
export const interfaceChanges: readonly InterfaceChange[] = [
  {
    version: '1.0.2',
    describedsince: '2026-11-20',
    changes: [
      'Get Benefits With Status answers with `swapeffectiveattimestamp` and `swapexpiresattimestamp`.',
      'Each webhook delivery carries `Idempotency-Key`, the same on every attempt for one event.',
      'Partner operations take the header `x-api-key`.',
    ],
  },
  {
    version: '1.0.1',
    describedsince: '2026-11-20',
    changes: ['The first version that is described.'],
  },
]

/** A change since the last release of the description. */
export type UnreleasedChange = {
  readonly text: string
  /** What it affects: ids of operations, names of schemas and events, as in the description. */
  readonly names: readonly string[]
  /** True when a program that was correct before may fail after it. */
  readonly breaking?: true
}

/**
 * The changes since the description in contract/released.json. A test fails for a name of which that description and today's
 * say something else without an entry here, and where oasdiff finds a breaking change whose entry does not say so. `node
 * scripts/release-description.mjs` starts a new list.
 */
export const unreleasedChanges: readonly UnreleasedChange[] = []
