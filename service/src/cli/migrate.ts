import type { Command } from '@benefit-enrolment/cli/command'
import { spreadState } from '../db/spread.ts'
import { reach } from './reach.ts'
import { onDatabase } from './workspace.ts'

/** `enrolment migrate`: updates the database schema. */
export const migrateSchema: Command = {
  name: 'migrate',
  summary: 'Update the database schema while services serve; safe to run twice at once.',
  run: input =>
    onDatabase(input, 'bring up', async ({ database }) => {
      const applied = await reach(database, 'bring up', {
        onHeldUp: name => process.stderr.write(`${name} waits for tables that others use.\n`),
      })
      const layout = await spreadState(database)
      input.print({ ok: true, applied, layout }, [
        ...applied.map(name => `Applied ${name}.`),
        'The schema is up to date.',
        ...(layout === 'unspread'
          ? [
              'The tables lie on this node alone, though it has the Citus extension: `enrolment copy --to URL` moves them to an empty database of the cluster.',
            ]
          : []),
      ])
    }),
}
