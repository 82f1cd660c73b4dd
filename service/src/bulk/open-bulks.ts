/** How many bulks of a partner a process answers at this moment. */
export type BulksElsewhere = { readonly process: number; readonly partnerId: string; readonly open: number }

/** The bulks of each partner that are open, at most eight at once (contract §18). */
export type OpenBulks = {
  /** Counts one more of a partner until the returned function is called; `undefined` when the partner has eight. */
  begin(partnerId: string): (() => void) | undefined
  /** Learns how many a process beside this one has. */
  note(elsewhere: BulksElsewhere): void
  /** Forgets those of a process that has ended. */
  forget(process: number): void
}

const MOST_OPEN = 8

/**
 * Opens the count. Processes that share an address tell each other (`tellOthers`) what they have open; two that begin one within the
 * same milliseconds may both take the eighth place.
 */
export function countOpenBulks(tellOthers?: (open: BulksElsewhere) => void): OpenBulks {
  const counts = new Map<number, Map<string, number>>()
  const ofProcess = (process: number) => {
    const known = counts.get(process) ?? new Map<string, number>()
    counts.set(process, known)
    return known
  }
  const set = ({ process, partnerId, open }: BulksElsewhere) => {
    if (open > 0) ofProcess(process).set(partnerId, open)
    else ofProcess(process).delete(partnerId)
  }
  const addHere = (partnerId: string, more: 1 | -1) => {
    const here = {
      process: process.pid,
      partnerId,
      open: (ofProcess(process.pid).get(partnerId) ?? 0) + more,
    }
    set(here)
    tellOthers?.(here)
  }
  return {
    begin(partnerId) {
      let open = 0
      for (const ofOne of counts.values()) open += ofOne.get(partnerId) ?? 0
      if (open >= MOST_OPEN) return undefined
      addHere(partnerId, 1)
      return () => addHere(partnerId, -1)
    },
    note: set,
    forget: process => void counts.delete(process),
  }
}
