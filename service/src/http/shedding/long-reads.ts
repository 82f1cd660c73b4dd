import { takeTurn } from './take-turn.ts'
import type { Turns } from './turns.ts'

// A read that goes through many users goes step by step: each step takes a turn of the partner, and counts as what it costs. Counted as
// one request, 20 connections that read the months of 5,000 members made another partner's reads take 213 times as long as alone, and
// 1.4 times since (`bench:fair`).

/** Waits until a step of a partner's long read may begin; what it resolves to ends the step. Rejects as `takeTurn` does. */
export type LongTurn = (partnerId: string, weight: number) => Promise<() => void>

/** The turns of long reads, of which a partner has one step under way at a time: it has no more of the database, either. */
export function longTurns(turns: Turns): LongTurn {
  return (caller, weight) => takeTurn(turns, { caller, lane: 'long', weight, isNarrow: true })
}

/** About as many small requests take as much time of the event loop as hundreds of rows that are read. */
const WEIGHT_OF_A_READ = 50
/** The same for this many rows that were read, and are shown or decided on. */
const WEIGHT_OF_ROWS = 5
const ROWS_OF_A_STEP = 100

/** Does a step that reads many rows at the partner's turn; at once without turns, where nobody else is served. */
export function inTurn<Result>(
  turn: LongTurn | undefined,
  partnerId: string,
  read: () => Promise<Result>,
): Promise<Result> {
  return stepAt(turn?.(partnerId, WEIGHT_OF_A_READ), read)
}

/** Makes something of each row, a hundred at each turn of the partner. */
export async function inSteps<Row, Made>(
  turn: LongTurn | undefined,
  partnerId: string,
  { rows, make }: { readonly rows: readonly Row[]; readonly make: (row: Row) => Made },
): Promise<Made[]> {
  const made: Made[] = []
  for (let from = 0; from < rows.length; from += ROWS_OF_A_STEP)
    await stepAt(turn?.(partnerId, WEIGHT_OF_ROWS), () => {
      for (const row of rows.slice(from, from + ROWS_OF_A_STEP)) made.push(make(row))
    })
  return made
}

async function stepAt<Result>(
  turn: Promise<() => void> | undefined,
  step: () => Result | Promise<Result>,
): Promise<Result> {
  const end = await turn
  try {
    return await step()
  } finally {
    end?.()
  }
}
