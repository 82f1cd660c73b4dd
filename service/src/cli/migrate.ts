import { type Command, valued } from '@benefit-enrolment/command'
import { CELLS_OF_A_CLUSTER, isCluster, namesOfCells } from '../db/cells.ts'
import { OperatorError } from '../operator-error.ts'
import { reach } from './reach.ts'
import { onDatabase } from './workspace.ts'

/** The most cells that a cluster gets: each is forty tables on its node. */
const MOST_CELLS = 256

/** `enrolment migrate`: updates the database schema. */
export const migrateSchema: Command = {
  name: 'migrate',
  summary: 'Update the database schema while services serve; safe to run twice at once.',
  options: {
    cells: valued(
      'N',
      `how many cells a cluster is to have at least (default at first: ${CELLS_OF_A_CLUSTER})`,
    ),
  },
  run: input =>
    onDatabase(input, { makes: true, starts: true }, async ({ database }) => {
      const wanted = input.text('cells')
      const cells = wanted === undefined ? undefined : Number(wanted)
      if (cells !== undefined && !(Number.isInteger(cells) && cells >= 1 && cells <= MOST_CELLS))
        throw new OperatorError(`--cells takes a number from 1 to ${MOST_CELLS}.`)
      const applied = await reach(database, 'bring up', {
        ...(cells !== undefined && { cells }),
        onHeldUp: name => process.stderr.write(`${name} waits for tables that others use.\n`),
      })
      const made = (await namesOfCells(database)).length
      input.print({ ok: true, applied, cells: made }, [
        ...applied.map(name => `Applied ${name}.`),
        'The schema is up to date.',
        ...(made > 0 ? [`The cluster has ${made} cells.`] : []),
        ...(made === 0 && (await isCluster(database))
          ? [
              'The tables lie on this node alone, though it has the Citus extension: `enrolment copy --to URL` moves them to an empty database of the cluster.',
            ]
          : []),
      ])
    }),
}
