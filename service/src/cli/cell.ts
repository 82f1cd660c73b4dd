import { setTimeout as pause } from 'node:timers/promises'
import type { Command } from '@benefit-enrolment/cli/command'
import { listCells, listNodes, moveCell, movePartnerRows, setCell } from '../db/move-cells.ts'
import { OperatorError } from '../operator-error.ts'
import { requirePartner } from '../partners/administer.ts'
import { inWorkspace, type Workspace } from './workspace.ts'

/**
 * Longer than any statement of a process that has not yet learnt that the partner is in no cell: it learns that within two
 * seconds, and ends a statement after six.
 */
const REST_MS = 10_000

const list: Command = {
  name: 'cell list',
  summary: "List a cluster's cells: the node of each, and how many partners belong to it.",
  run: input =>
    inWorkspace(input, async ({ database }) => {
      const cells = await listCells(database)
      input.print(
        { cells, nodes: await listNodesOf(cells.length, database) },
        cells.length === 0
          ? ['One PostgreSQL has one cell.']
          : cells.map(({ cell, node, partners }) => `${cell}  ${node}  ${partners} partners`),
      )
    }),
}

async function listNodesOf(cells: number, database: Workspace['database']): Promise<readonly string[]> {
  return cells === 0 ? [] : listNodes(database)
}

const assign: Command = {
  name: 'cell assign',
  arguments: ['PARTNER', 'CELL'],
  summary: 'Move a partner to another cell: it gets 503 for some ten seconds, and the others notice nothing.',
  run: input =>
    inWorkspace(input, async ({ database, commit }) => {
      const [name = '', to = ''] = input.positionals
      const partner = await requirePartner(database, name)
      const cells = await listCells(database)
      const target = cells.find(({ cell }) => cell === to)
      const source = cells.find(({ cell }) => cell === partner.cell)
      if (!target) throw new OperatorError('There is no such cell: see `enrolment cell list`.')
      if (!source)
        throw new OperatorError(
          'The partner is on its way to another cell, or a move was broken off: see docs/scaling.md.',
        )
      if (source.cell === to) throw new OperatorError('The partner is in this cell already.')
      if (target.node !== source.node) {
        if (target.partners > 0)
          throw new OperatorError(
            `The cell is on another node (${target.node}) than the partner (${source.node}), and not empty: move it with \`enrolment cell move ${to} ${source.node}\` first, or name one of the partner's node.`,
          )
        await moveCell(database, to, source.node)
      }
      const { partner_id: partnerId } = partner
      await setCell(database, partnerId, '')
      let rows: number
      try {
        await pause(REST_MS)
        rows = await movePartnerRows(database, partnerId, { from: source.cell, to })
      } catch (error) {
        await setCell(database, partnerId, source.cell)
        throw error
      }
      database.noteCell(partnerId, to)
      await commit(async () => true)
      input.print({ partnerid: partnerId, cell: to, rows }, [`The partner's ${rows} rows are in ${to}.`])
    }),
}

const move: Command = {
  name: 'cell move',
  arguments: ['CELL', 'NODE'],
  summary: 'Move a cell with its partners to another node (HOST:PORT) while it serves.',
  run: input =>
    inWorkspace(input, async ({ database }) => {
      const [name = '', node = ''] = input.positionals
      const cell = (await listCells(database)).find(one => one.cell === name)
      if (!cell) throw new OperatorError('There is no such cell: see `enrolment cell list`.')
      const nodes = await listNodes(database)
      if (!nodes.includes(node))
        throw new OperatorError(`There is no such node for cells; there are ${nodes.join(', ')}.`)
      if (cell.node !== node) await moveCell(database, name, node)
      input.print({ cell: name, node }, [`${name} is on ${node}.`])
    }),
}

/** The commands for the cells of a cluster. */
export const cellCommands: readonly Command[] = [list, assign, move]
