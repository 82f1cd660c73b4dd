import { fstatSync, writeSync } from 'node:fs'
import { OperatorError } from '../operator-error.ts'

/** How much of the log waits for a reader that does not read, before further lines are left out. */
const MOST_WAITING_BYTES = 8 * 1024 * 1024

let outputFailure: string | undefined

/** Keeps a closed or full standard stream from ending the process, as Node.js would. Call it once, before all else. */
export function bearClosedStreams(): void {
  process.stdout.on('error', () => {})
  process.stderr.on('error', () => {})
}

/**
 * Writes a part of a command's answer. Throws OperatorError when an earlier part could not be written, because the
 * reader is gone or the disk is full: nobody would see the rest.
 */
export function writeAnswer(text: string): void {
  checkAnswerWritten()
  process.stdout.write(text, error => {
    if (error) outputFailure ??= (error as { code?: string }).code ?? 'unknown'
  })
}

/** Throws OperatorError when a part of the answer could not be written. */
export function checkAnswerWritten(): void {
  if (outputFailure)
    throw new OperatorError(
      `Standard output could not be written (${outputFailure}): the answer is incomplete.`,
    )
}

/**
 * Standard error as the place of the log. Lines that it does not take are left out: a full disk or a reader that is gone
 * must not end a service that works.
 */
export function openLogStream(): { write(text: string): void } {
  // Node.js gives up a file for good at the first failure; a disk, however, gets room again.
  if (fstatSync(2).isFile()) return { write: writeToFile }
  return {
    write(text) {
      if (process.stderr.writableLength < MOST_WAITING_BYTES) process.stderr.write(text)
    },
  }
}

function writeToFile(text: string): void {
  try {
    writeSync(2, text)
  } catch {
    // The log is the only place that could say so.
  }
}
