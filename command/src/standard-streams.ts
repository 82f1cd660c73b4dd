import { CommandError } from './command-error.ts'

let outputFailure: string | undefined

/** Keeps a closed or full standard stream from ending the process, as Node.js would. Call it once, before all else. */
export function bearClosedStreams(): void {
  process.stdout.on('error', () => {})
  process.stderr.on('error', () => {})
}

/**
 * Writes a part of a command's answer. Throws CommandError when an earlier part could not be written, because the
 * reader is gone or the disk is full: nobody would see the rest.
 */
export function writeAnswer(text: string): void {
  checkAnswerWritten()
  process.stdout.write(text, error => {
    if (error) outputFailure ??= (error as { code?: string }).code ?? 'unknown'
  })
}

/** Throws CommandError when a part of the answer could not be written. */
export function checkAnswerWritten(): void {
  if (outputFailure)
    throw new CommandError(
      `Standard output could not be written (${outputFailure}): the answer is incomplete.`,
    )
}
