import { setTimeout as pause } from 'node:timers/promises'
import { type Command, flag } from '@benefit-enrolment/command'
import type { Database, Executor } from '../db/database.ts'
import {
  type Cell,
  cellWithRows,
  listCells,
  listNodes,
  markOwn,
  moveCell,
  movePartnerRows,
  moving,
  partnersIn,
  setCell,
} from '../db/move-cells.ts'
import { OperatorError } from '../operator-error.ts'
import { requirePartner } from '../partners/administer.ts'
import { inWorkspace } from './workspace.ts'

/**
 * Longer than any statement of a process that has not yet learnt that the partner is in no cell: it learns that within two
 * seconds, and ends a statement after six.
 */
const REST_MS = 10_000

const list: Command = {
  name: 'cell list',
  summary:
    "List a cluster's cells: the node of each, how many partners belong to it, and whether new ones may.",
  run: input =>
    inWorkspace(input, async ({ database }) => {
      const cells = await listCells(database)
      const isCluster = cells.length > 0
      const nodes = isCluster ? await listNodes(database) : []
      const without = isCluster ? await partnersIn(database, '') : []
      input.print(
        { cells, nodes, without },
        isCluster
          ? [
              ...cells.map(
                ({ cell, node, partners, own }) =>
                  `${cell}  ${node}  ${partners} partners${own ? ', and no new ones' : ''}`,
              ),
              ...without.map(
                id =>
                  `${id} is in no cell and gets 503: it is being moved, or a move was broken off, which \`enrolment cell assign ${id} CELL\` finishes (with --own if that was given), or takes back where CELL is its former one.`,
              ),
            ]
          : ['One PostgreSQL has one cell.'],
      )
    }),
}

const assign: Command = {
  name: 'cell assign',
  arguments: ['PARTNER', 'CELL'],
  summary: 'Move a partner to another cell: it gets 503 for some ten seconds, and the others notice nothing.',
  options: {
    own: flag('keep new partners out of the cell, until a partner is assigned to it without this'),
  },
  run: input =>
    inWorkspace(input, async ({ database, commit }) => {
      const [name = '', to = ''] = input.positionals
      const moved = await moving(database, databaseSession =>
        assignTo(to, { name, isOwn: input.flag('own'), database, databaseSession }),
      ).catch(async error => {
        if (!(error instanceof OperatorError)) await takeBack(database, name)
        throw error
      })
      database.noteCell(moved.partnerid, to)
      await commit(async () => true)
      input.print(moved, [
        ...(moved.repaired ? ['An earlier move of this partner had been broken off.'] : []),
        moved.rows === 0
          ? `The partner is in ${to}${moved.repaired ? ' again' : ''}.`
          : `The partner's ${moved.rows} rows are in ${to}.`,
        moved.own ? 'New partners stay out of it.' : 'New partners may come into it.',
      ])
    }),
}

type Moved = {
  readonly partnerid: string
  readonly cell: string
  readonly rows: number
  /** New partners stay out of the cell. */
  readonly own: boolean
  /** The partner was in no cell, as an earlier move had been broken off. */
  readonly repaired: boolean
}

/**
 * Moves a partner to a cell, and says whether the cell is its own. One whom a killed command has left in no cell is in that which
 * has its rows.
 */
async function assignTo(
  to: string,
  {
    name,
    isOwn,
    database,
    databaseSession,
  }: {
    readonly name: string
    readonly isOwn: boolean
    readonly database: Database
    readonly databaseSession: Executor
  },
): Promise<Moved> {
  const { partner_id: partnerId, cell: own } = await requirePartner(database, name)
  const cells = await listCells(database)
  const repaired = own === ''
  const from = repaired ? ((await cellWithRows(databaseSession, partnerId, cells)) ?? to) : own
  const target = cells.find(({ cell }) => cell === to)
  const source = cells.find(({ cell }) => cell === from)
  if (!target || !source) throw new OperatorError('There is no such cell: see `enrolment cell list`.')
  if (own === to && isOwn === target.own) throw new OperatorError('The partner is in this cell already.')
  if (target.node !== source.node && target.partners > 0)
    throw new OperatorError(
      `The cell is on another node (${target.node}) than the partner (${source.node}), and not empty: name one of the partner's node, or move the cell first (docs/scaling.md has the statement).`,
    )
  const closes = isOwn && !target.own
  // First, as an empty cell is where the next new partner would go.
  if (closes) await markOwn(databaseSession, to, true)
  try {
    if (isOwn) await requireAlone(database, partnerId, to)
    const rows = await moveRows(databaseSession, partnerId, { database, source, target })
    if (!isOwn && target.own) await markOwn(databaseSession, to, false)
    return { partnerid: partnerId, cell: to, own: isOwn, repaired, rows }
  } catch (error) {
    // The connection may be what failed; `cell list` then shows that new partners stay out.
    if (closes) await markOwn(databaseSession, to, false).catch(() => {})
    throw error
  }
}

/** Moves the rows of a partner who is in a cell, or whose move there was broken off; returns how many. */
async function moveRows(
  databaseSession: Executor,
  partnerId: string,
  { database, source, target }: { readonly database: Database; readonly source: Cell; readonly target: Cell },
): Promise<number> {
  const to = target.cell
  if (source.cell === to) {
    await setCell(databaseSession, partnerId, to)
    return 0
  }
  if (target.node !== source.node) await moveCell(database, to, source.node)
  await setCell(databaseSession, partnerId, '')
  await pause(REST_MS)
  return movePartnerRows(databaseSession, partnerId, { from: source.cell, to })
}

/** Throws OperatorError when a cell has partners besides this one. */
async function requireAlone(database: Database, partnerId: string, cell: string): Promise<void> {
  const others = (await partnersIn(database, cell)).filter(id => id !== partnerId)
  if (others.length > 0)
    throw new OperatorError(
      `${cell} has other partners: ${others.join(', ')}. Move them with \`enrolment cell assign\` first, or name a cell without partners: \`enrolment migrate --cells N\` makes more, and \`enrolment cell list\` shows them.`,
    )
}

/** Puts a partner whom a failed move has left in no cell into the one that has its rows: its commit may have taken place. */
async function takeBack(database: Database, name: string): Promise<void> {
  await moving(database, async databaseSession => {
    const { partner_id: partnerId, cell } = await requirePartner(database, name)
    const found = await cellWithRows(databaseSession, partnerId, await listCells(database))
    if (cell === '' && found !== undefined) await setCell(databaseSession, partnerId, found)
  })
}

/** The commands for the cells of a cluster. */
export const cellCommands: readonly Command[] = [list, assign]
