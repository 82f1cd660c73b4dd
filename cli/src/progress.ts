import { readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { CommandError } from '@benefit-enrolment/command'
import { isSigningSecret, newSigningSecret } from './delivery.ts'

/** How far a listener has read, stored in a file so that it continues there after a restart. */
export type Progress = {
  readonly secret: string
  readonly after?: string
  readonly delivered: readonly string[]
}

/** The default file for it. */
export const progressFile = './.enrolment-listen.json'

/**
 * Reads how far a listener has read; without a file, starts from the beginning with a new secret. Throws CommandError
 * on a file that cannot be read or is damaged.
 */
export function readProgress(file: string): Progress {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw unusable(file, error)
    return { secret: newSigningSecret(), delivered: [] }
  }
  const progress = parsed(text)
  if (!isProgress(progress))
    throw new CommandError(
      `${file} is damaged: delete it, and the listener begins with what is raised from then on.`,
    )
  return progress
}

/**
 * Stores the progress; a crash in the middle of a write must not lose the cursor. Throws CommandError when the file
 * cannot be written; nothing is left beside it then, because the progress holds the signing secret.
 */
export function writeProgress(file: string, progress: Progress): void {
  const unfinished = `${file}.new`
  try {
    writeFileSync(unfinished, JSON.stringify(progress), { mode: 0o600 })
    renameSync(unfinished, file)
  } catch (error) {
    try {
      unlinkSync(unfinished)
    } catch {
      // It was not made, or is no file.
    }
    throw unusable(file, error)
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isProgress(value: unknown): value is Progress {
  const { secret, after, delivered } = (value ?? {}) as Partial<Record<keyof Progress, unknown>>
  return (
    isSigningSecret(secret) &&
    ['string', 'undefined'].includes(typeof after) &&
    Array.isArray(delivered) &&
    delivered.every(one => typeof one === 'string')
  )
}

function unusable(file: string, error: unknown): CommandError {
  return new CommandError(
    `The cursor file ${file} cannot be used (${codeOf(error)}): name another with --cursor.`,
  )
}

function codeOf(error: unknown): string {
  return (error as { code?: string }).code ?? 'unknown'
}
