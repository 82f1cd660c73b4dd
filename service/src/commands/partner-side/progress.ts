import { randomBytes } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { OperatorError } from '../../operator-error.ts'

/** How far a listener has read, stored in a file so that it continues there after a restart. */
export type Progress = {
  readonly secret: string
  readonly after?: string
  readonly delivered: readonly string[]
}

/** The default file for it. */
export const progressFile = './.enrolment-listen.json'

/**
 * Reads how far a listener has read; without a file, starts from the beginning with a new secret. Throws OperatorError
 * on a damaged file.
 */
export function readProgress(file: string): Progress {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return { secret: `whsec_${randomBytes(32).toString('base64')}`, delivered: [] }
  }
  try {
    return JSON.parse(text) as Progress
  } catch {
    throw new OperatorError(
      `${file} is damaged: delete it, and the listener begins with what is raised from then on.`,
    )
  }
}

/** Stores the progress; a crash in the middle of a write must not lose the cursor. */
export function writeProgress(file: string, progress: Progress): void {
  writeFileSync(`${file}.new`, JSON.stringify(progress), { mode: 0o600 })
  renameSync(`${file}.new`, file)
}
