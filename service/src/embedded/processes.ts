import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * Tells this life of a process id from any later one, in characters fit for a file name;
 * `undefined` when no such process lives.
 */
export function lifeOf(pid: number): string | undefined {
  return process.platform === 'linux' ? lifeFromProc(pid) : lifeFromPs(pid)
}

/** The command line of a process, its arguments parted by spaces; `undefined` when no such process lives. */
export function commandLineOf(pid: number): string | undefined {
  if (process.platform !== 'linux') return ps(pid, 'command=')
  const line = readIfThere(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ').trim()
  return line === '' ? undefined : line
}

/** Whether the system knows the process id at all: a living process, anybody's, or a zombie. */
export function isTaken(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Sends a signal; `false` when the process is gone already. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false
    throw error
  }
}

function lifeFromProc(pid: number): string | undefined {
  const stat = readIfThere(`/proc/${pid}/stat`)
  // The second field is the program's name in brackets, and may itself hold spaces and brackets.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  const state = fields?.[0]
  const ticksAtStart = fields?.[19]
  // A zombie runs nothing; where the first process of a container does not reap, it stays for ever.
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
