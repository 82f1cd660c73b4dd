import type { Batch } from '../service/src/membership/save.ts'

/** A batch that saves nothing, to be filled with what a test saves. */
export const emptyBatch: Batch = {
  renamed: [],
  users: [],
  erased: [],
  ended: [],
  enrolments: [],
  consents: [],
  documents: [],
  history: [],
  events: [],
  staleKeys: [],
  keys: [],
}
