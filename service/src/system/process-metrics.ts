import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { serviceVersion } from '../version.ts'

let opened: Registry | undefined

/**
 * The metrics that prom-client brings along for a process: processor, memory, event loop, garbage collection, open
 * files. Set up once, on the first call, because there is one process.
 */
export function processMetrics(): Promise<string> {
  if (!opened) {
    opened = new Registry()
    collectDefaultMetrics({ register: opened })
  }
  return opened.metrics()
}

/** The numbers of a service and of the process that it is. */
export async function metricsOf(service: { metrics(): Promise<string> }): Promise<string> {
  return (await Promise.all([service.metrics(), processMetrics()])).join('')
}

/**
 * The metric that names the running versions: of the service, of Node.js, and of the database schema found at the
 * start.
 */
export function buildMetrics(schema: string): () => Promise<string> {
  const registry = new Registry()
  new Gauge({
    name: 'enrolment_build_info',
    help: 'Always 1; its labels say what runs',
    labelNames: ['version', 'node', 'schema'],
    registers: [registry],
  }).set({ version: serviceVersion, node: process.version, schema }, 1)
  return () => registry.metrics()
}
