import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf } from './error-parts.ts'

/**
 * Makes a directory (0700) and those above it, unless they are there. Throws what the system reports. Node's own
 * recursive `mkdir` never returns where the system answers ENOENT below a directory that exists, as in /proc (Node
 * 20.20).
 */
export async function makeDirectory(directory: string): Promise<void> {
  const parent = dirname(directory)
  if (parent !== directory && !(await isThere(parent))) await makeDirectory(parent)
  try {
    await mkdir(directory, { mode: 0o700 })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' || !(await stat(directory)).isDirectory()) throw error
  }
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
