import { fstatSync, writeSync } from 'node:fs'

/** How much of the log waits for a reader that does not read, before further lines are left out. */
const MOST_WAITING_BYTES = 8 * 1024 * 1024

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
