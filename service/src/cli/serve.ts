import cluster from 'node:cluster'
import { type Command, flag } from '@benefit-enrolment/command'
import { readConfig } from '../config.ts'
import { runService, servingOptions } from './run-service.ts'

/** `enrolment serve`: production. */
export const serve: Command = {
  name: 'serve',
  summary: 'Run the service in production, on DATABASE_URL or on the embedded database of --data DIR.',
  options: {
    ...servingOptions,
    'insecure-http': flag('listen on other than loopback addresses without an https ENROLMENT_BASE_URL'),
    quiet: flag('answer reads alone: no writes, no deliveries, no due changes, until `enrolment resume`'),
  },
  async run(input) {
    const config = readConfig(input.environment)
    if (!cluster.isWorker) return runService(input, config, 'live')
    const { runWorker } = await import('./processes/worker.ts')
    return runWorker(input, config)
  },
}
