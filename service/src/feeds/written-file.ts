import type { LineValues } from './feed.ts'
import type { Run } from './store.ts'

/** Writes one file of a feed, from its first line to its last. */
export type FileFormat = {
  readonly head: () => Buffer
  readonly line: (values: LineValues) => Buffer
  /** Called once, after the last line. */
  readonly foot: () => Buffer
}

/** What a file says of the run that it belongs to. */
export type FileRun = Pick<Run, 'feed' | 'run' | 'madeAt' | 'isFull'> & Partial<Pick<Run, 'insurerName'>>
