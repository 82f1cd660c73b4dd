/**
 * The most processor time that one request may cost, sender included: some twenty times what is usual, so that a busy
 * machine does not matter and a stall shows. docs/trust.md states it.
 */
export const MOST_CPU_MS = 100

/** The processor time that this process, which is service and sender, takes while something is done. */
export async function cpuMsOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/**
 * The same; where it exceeds the bound, the least of some more tries, because the process also does other things, and
 * does some of them for the first time.
 */
export async function leastCpuMsOf(work: () => Promise<unknown>): Promise<number> {
  let least = await cpuMsOf(work)
  for (let tries = 0; tries < 5 && least >= MOST_CPU_MS; tries += 1)
    least = Math.min(least, await cpuMsOf(work))
  return least
}
