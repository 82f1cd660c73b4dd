import type { BatchWrites } from '../service/src/membership/commands/batch-writes.ts'

/** A batch that writes nothing, to which a test adds its writes. */
export const emptyBatch: BatchWrites = {
  recordedAt: 0,
  renamed: [],
  users: [],
  erased: [],
  retained: [],
  ended: [],
  enrolments: [],
  consents: [],
  confirmations: [],
  designations: [],
  decidedDesignations: [],
  documents: [],
  history: [],
  events: [],
  staleKeys: [],
  keys: [],
  alongside: [],
}
