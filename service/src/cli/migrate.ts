import { spreadGrown, spreadState } from '../db/spread.ts'
import { type Command, flag } from './command.ts'
import { reach } from './reach.ts'
import { onDatabase } from './workspace.ts'

/** `enrolment migrate`: updates the database schema. */
export const migrateSchema: Command = {
  name: 'migrate',
  summary: 'Update the database schema while services serve; safe to run twice at once.',
  options: {
    spread: flag('spread a database that grew up on one node of a Citus cluster, while no service runs'),
  },
  run: input =>
    onDatabase(input, 'bring up', async ({ database }) => {
      const applied = await reach(database, 'bring up', {
        onHeldUp: name => process.stderr.write(`${name} waits for tables that others use.\n`),
      })
      const spread = input.flag('spread') ? await spreadGrown(database) : []
      const layout = await spreadState(database)
      input.print({ ok: true, applied, layout, ...(input.flag('spread') && { spread }) }, [
        ...applied.map(name => `Applied ${name}.`),
        'The schema is up to date.',
        ...(spread.length > 0 ? [`Spread ${spread.length} tables over the cluster.`] : []),
        ...(layout === 'unspread'
          ? [
              'The tables lie on this node alone, though it has the Citus extension: stop every process of the service and run `enrolment migrate --spread`.',
            ]
          : []),
      ])
    }),
}
