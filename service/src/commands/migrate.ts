import type { Command } from './command.ts'
import { inWorkspace } from './workspace.ts'

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
