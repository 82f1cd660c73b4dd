import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { codeOf } from './error-parts.ts'

/**
 * Identifies one run of a process: differs for every later process with the same id, and has only characters that
 * fit into a file name. `undefined` when no such process runs.
 */
export function lifeOf(pid: number): string | undefined {
  return process.platform === 'linux' ? lifeFromProc(pid) : lifeFromPs(pid)
}

/** The command line of a process, with spaces between its arguments; `undefined` when no such process runs. */
export function commandLineOf(pid: number): string | undefined {
  if (process.platform !== 'linux') return ps(pid, 'command=')
  const line = readIfThere(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ').trim()
  return line === '' ? undefined : line
}

/** Whether the process id is in use, by a running process of any user or by a zombie. */
export function isTaken(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

/** Sends a signal; false when the process has ended. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return false
    throw error
  }
}

function lifeFromProc(pid: number): string | undefined {
  const stat = readIfThere(`/proc/${pid}/stat`)
  // The second field is the program's name in parentheses, and may itself contain spaces and parentheses.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  const state = fields?.[0]
  const ticksAtStart = fields?.[19]
  // A zombie runs nothing; in a container whose first process does not reap, it stays forever.
  if (ticksAtStart === undefined || state === 'Z' || state === 'X') return undefined
  return `${bootId()}-${ticksAtStart}`
}

function lifeFromPs(pid: number): string | undefined {
  const [state, ...startedAt] = ps(pid, 'state=,lstart=')?.split(/\s+/) ?? []
  if (state === undefined || state.startsWith('Z')) return undefined
  return String(Date.parse(`${startedAt.join(' ')} UTC`))
}

function ps(pid: number, columns: string): string | undefined {
  try {
    const env = { LC_ALL: 'C', TZ: 'UTC' }
    const shown = execFileSync('/bin/ps', ['-ww', '-o', columns, '-p', String(pid)], { env, stdio: 'pipe' })
    return String(shown).trim() || undefined
  } catch {
    return undefined
  }
}

function bootId(): string {
  return readIfThere('/proc/sys/kernel/random/boot_id')?.slice(0, 8) ?? 'boot'
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
