import { Counter, Gauge, Registry } from 'prom-client'
import type { Shedding } from '../http/shedding/shedding.ts'
import type { UserMemory } from '../membership/reading/user-memory.ts'

/** The metrics of a process's load: requests in flight, requests refused for load, and remembered users. */
export function loadMetrics(shedding: Shedding, memory: UserMemory): () => Promise<string> {
  const registry = new Registry()
  const registers = [registry]
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers })
  const inFlight = gauge('http_requests_in_flight', 'Requests that are being worked on')
  const waiting = gauge('http_requests_waiting', 'Requests that wait for their turn')
  const delay = gauge('http_event_loop_delay_seconds', 'Present delay of the event loop')
  const shed = new Counter({
    name: 'http_requests_shed_total',
    help: 'Requests refused for load: they had waited for too long, or memory was short',
    labelNames: ['reason'],
    registers,
  })
  const users = gauge('memory_users', 'Users whose state is remembered')
  const bytes = gauge('memory_bytes', 'About how much memory the remembered users take')
  const reads = new Counter({
    name: 'memory_reads_total',
    help: 'Users looked for in memory: the same as in the database, changed since, or unknown',
    labelNames: ['found'],
    registers,
  })
  const answers = new Counter({
    name: 'memory_answers_total',
    help: 'Lists of benefits: the same as before, or made anew',
    labelNames: ['found'],
    registers,
  })
  return () => {
    const remembered = memory.numbers()
    users.set(remembered.users)
    bytes.set(remembered.bytes)
    reads.reset()
    for (const [found, count] of Object.entries(remembered.reads)) reads.inc({ found }, count)
    answers.reset()
    for (const [found, count] of Object.entries(remembered.answers)) answers.inc({ found }, count)
    const numbers = shedding.turns.numbers()
    inFlight.set(numbers.underWay)
    waiting.set(numbers.waiting)
    delay.set(shedding.loopDelayMs() / 1000)
    shed.reset()
    for (const [reason, count] of Object.entries(numbers.shed)) shed.inc({ reason }, count)
    return registry.metrics()
  }
}
