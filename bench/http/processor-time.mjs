// Processor time and memory of processes and all their descendants, from Linux's /proc; zeros on other systems.
import { readdirSync, readFileSync } from 'node:fs'

const TICKS_PER_SECOND = 100

/**
 * The parent of a process, and its processor time in seconds with that of its ended children; undefined when it has
 * ended.
 */
function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name is in parentheses and may contain spaces.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0)
    return { parent: Number(fields[1]), seconds: ticks / TICKS_PER_SECOND }
  } catch {
    return undefined
  }
}

function allStats() {
  const stats = new Map()
  let names = []
  try {
    names = readdirSync('/proc')
  } catch {
    return stats
  }
  for (const name of names) {
    const stat = /^\d+$/.test(name) ? statOf(name) : undefined
    if (stat) stats.set(Number(name), stat)
  }
  return stats
}

/**
 * The processor seconds that these processes and their descendants have used since they started, without the `others` among
 * the descendants and what is below them.
 */
export function processorSeconds(roots, others = []) {
  const stats = allStats()
  const isBelow = pid => {
    for (let at = pid; at > 1 && !others.includes(at); at = stats.get(at)?.parent ?? 0)
      if (roots.includes(at)) return true
    return false
  }
  let sum = 0
  for (const [pid, { seconds }] of stats) if (isBelow(pid)) sum += seconds
  return sum
}

/** Resident memory of one process in megabytes. */
export function residentMegabytes(pid) {
  try {
    const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kilobytes) / 1024
  } catch {
    return Number.NaN
  }
}
