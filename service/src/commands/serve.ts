import { readConfig } from '../config.ts'
import type { Command } from './command.ts'
import { runService, servingOptions } from './run-service.ts'
import { inWorkspace } from './workspace.ts'

/** `enrolment serve`: production. */
export const serve: Command = {
  name: 'serve',
  arguments: [],
  summary: 'Run the service in production, on DATABASE_URL or on the embedded database of --data DIR.',
  options: servingOptions,
  run: input => runService(input, readConfig(input.environment), 'live'),
}

/** `enrolment migrate`: brings the schema up. */
export const migrateSchema: Command = {
  name: 'migrate',
  arguments: [],
  summary: 'Bring the schema of the database up; safe to run twice at once.',
  options: {},
  run: input =>
    inWorkspace(
      input,
      async () => {
        input.print({ ok: true }, ['The schema is up to date.'])
      },
      { mayMake: true },
    ),
}
