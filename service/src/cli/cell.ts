import { setTimeout as pause } from 'node:timers/promises'
import type { Command } from '@benefit-enrolment/command'
import { listCells, moveRows, partnersInNone, setCell } from '../db/assign-cell.ts'
import { OperatorError } from '../operator-error.ts'
import { requirePartner } from '../partners/administer.ts'
import { inWorkspace } from './workspace.ts'

/**
 * Longer than any statement of a process that has not yet learnt that the partner is in no cell: it learns that within four
 * seconds, and ends a statement after six.
 */
const REST_MS = 10_000

const list: Command = {
  name: 'cell list',
  summary: "List a cluster's cells: the node of each, and how many partners belong to it.",
  run: input =>
    inWorkspace(input, async ({ database }) => {
      const cells = await listCells(database)
      const without = cells.length > 0 ? await partnersInNone(database) : []
      input.print({ cells, without }, [
        ...cells.map(({ cell, node, partners }) => `${cell}  ${node}  ${partners} partners`),
        ...without.map(
          id =>
            `${id} is in no cell and gets 503: it is being moved, or a move was broken off, which \`enrolment cell assign ${id} CELL\` finishes, or takes back where CELL is its former one.`,
        ),
        ...(cells.length === 0 ? ['One PostgreSQL has one cell.'] : []),
      ])
    }),
}

const assign: Command = {
  name: 'cell assign',
  arguments: ['PARTNER', 'CELL'],
  summary: 'Move a partner to another cell: it gets 503 for some ten seconds, and the others notice nothing.',
  run: input =>
    inWorkspace(input, async ({ database, commit }) => {
      const [name = '', to = ''] = input.positionals
      const { partner_id: partnerId, cell } = await requirePartner(database, name)
      if (!(await listCells(database)).some(one => one.cell === to))
        throw new OperatorError('There is no such cell: see `enrolment cell list`.')
      if (cell === to) throw new OperatorError('The partner is in this cell already.')
      // Its rows are where they were until the transaction of the move commits.
      const putBack = () => moveRows(database, partnerId).catch(() => 0)
      await setCell(database, partnerId, '')
      await pause(REST_MS)
      const rows = await moveRows(database, partnerId, to).catch(async error => {
        if (!(error instanceof OperatorError)) await putBack()
        throw error
      })
      await database.learnCells()
      await commit(async () => true)
      const repaired = cell === ''
      input.print({ partnerid: partnerId, cell: to, rows, repaired }, [
        ...(repaired ? ['An earlier move of this partner had been broken off.'] : []),
        rows === 0 ? `The partner is in ${to} again.` : `The partner's ${rows} rows are in ${to}.`,
      ])
    }),
}

/** The commands for the cells of a cluster. */
export const cellCommands: readonly Command[] = [list, assign]
