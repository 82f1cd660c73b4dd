import { Counter, Gauge, Registry } from 'prom-client'
import type { Gate } from '../http/gate.ts'

/** The numbers of what a process has to do and what it refused, as Prometheus reads them. */
export const loadMetrics = (gate: Gate): (() => Promise<string>) => {
  const registry = new Registry()
  const registers = [registry]
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers })
  const inFlight = gauge('http_requests_in_flight', 'Requests that are being worked on')
  const partners = gauge(
    'http_partners_in_flight',
    'Partners with requests in flight; all unknown count as one',
  )
  const delay = gauge('http_event_loop_delay_seconds', 'Event-loop delay that stands')
  const shed = new Counter({
    name: 'http_requests_shed_total',
    help: 'Requests refused for load: no room, a partner over its share, or a late process',
    labelNames: ['reason'],
    registers,
  })
  return () => {
    const numbers = gate.numbers()
    inFlight.set(numbers.inFlight)
    partners.set(numbers.partners)
    delay.set(numbers.loopDelayMs / 1000)
    shed.reset()
    for (const [reason, count] of Object.entries(numbers.shed)) shed.inc({ reason }, count)
    return registry.metrics()
  }
}
