import { copyFile, stat, truncate } from 'node:fs/promises'

/**
 * Keeps PostgreSQL's log from growing without limit: when it is long, moves its content to `.1`, even while
 * PostgreSQL writes to it.
 */
export async function shortenLog(file: string): Promise<void> {
  const size = await stat(file).then(
    found => found.size,
    () => 0,
  )
  if (size < LONGEST_LOG) return
  await copyFile(file, `${file}.1`)
  // PostgreSQL appends to the file that it holds open, so it continues at the new end.
  await truncate(file)
}

const LONGEST_LOG = 4 * 1024 * 1024
