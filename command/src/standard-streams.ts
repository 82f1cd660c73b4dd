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
    if (error) outputFailure ??= codeOf(error)
  })
}

/**
 * A text in which characters that could steer a terminal, hide or reorder what it shows are escaped as in JSON: much of what a
 * command tells was written by others. Line ends and tabs stay.
 */
export function printable(text: string): string {
  return text.replace(/[^\P{C}\n\t]|[\p{Zl}\p{Zp}]/gu, character =>
    Array.from({ length: character.length }, (_, at) => {
      const unit = character.charCodeAt(at).toString(16)
      return `\\u${unit.padStart(4, '0')}`
    }).join(''),
  )
}

/** Writes a part of a long answer, and waits while its reader is slower. Rejects with CommandError when it could not be written. */
export function writeBytes(bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(bytes, error => (error ? reject(incomplete(codeOf(error))) : resolve()))
  })
}

/** Throws CommandError when a part of the answer could not be written. */
export function checkAnswerWritten(): void {
  if (outputFailure) throw incomplete(outputFailure)
}

function incomplete(code: string): CommandError {
  return new CommandError(`Standard output could not be written (${code}): the answer is incomplete.`)
}

function codeOf(error: Error): string {
  return (error as { code?: string }).code ?? 'unknown'
}
