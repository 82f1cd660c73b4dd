import type { InterfaceVersion } from './openapi.ts'

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
      'Each webhook delivery carries `Idempotency-Key`, the same on every try of one event.',
      'Partner operations take the header `x-api-key`.',
    ],
  },
  {
    version: '1.0.1',
    describedsince: '2026-11-20',
    changes: ['The first version that is described.'],
  },
]
