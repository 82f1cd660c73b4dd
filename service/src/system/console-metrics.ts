import { Counter, Gauge, Registry } from 'prom-client'

/** What is known of the console's process: whether there is one, how many ended by themselves, and what it needs. */
type ConsoleNumbers = {
  readonly isUp: boolean
  readonly ends: number
  readonly report: { readonly memoryBytes: number; readonly cpuSeconds: number } | undefined
}

/** The metrics of the console where it runs in a process of its own. */
export function consoleMetrics(read: () => Promise<ConsoleNumbers>): () => Promise<string> {
  const registry = new Registry()
  const registers = [registry]
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers })
  const up = gauge(
    'console_process_up',
    '1 while the process of the console runs; it begins with the first use',
  )
  const ends = new Counter({
    name: 'console_process_ends_total',
    help: 'Processes of the console that ended by themselves',
    registers,
  })
  const memory = gauge('console_process_resident_memory_bytes', 'Memory of the process of the console')
  const cpu = gauge(
    'console_process_cpu_seconds',
    'Processor time of the process of the console since it began',
  )
  return async () => {
    const numbers = await read()
    up.set(numbers.isUp ? 1 : 0)
    ends.reset()
    ends.inc(numbers.ends)
    memory.set(numbers.report?.memoryBytes ?? 0)
    cpu.set(numbers.report?.cpuSeconds ?? 0)
    return registry.metrics()
  }
}
