import { copyFile, stat, truncate } from 'node:fs/promises'

/**
 * Keeps PostgreSQL's log from growing without end: one that has become long is moved to `.1`, also while PostgreSQL
 * writes to it.
 */
export async function shortenLog(file: string): Promise<void> {
  const size = await stat(file).then(
    found => found.size,
    () => 0,
  )
  if (size < longestLog) return
  await copyFile(file, `${file}.1`)
  // PostgreSQL appends through a handle of its own, which goes on at the new end.
  await truncate(file)
}

const longestLog = 4 * 1024 * 1024
