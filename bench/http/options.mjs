import { parseArgs } from 'node:util'

/** The options of the command, which the heads of `http.mjs` and `cells.mjs` list. */
export const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    seconds: { type: 'string' },
    rounds: { type: 'string' },
    connections: { type: 'string', default: '64' },
    also: { type: 'string', default: '1,16,256' },
    users: { type: 'string' },
    scenario: { type: 'string', default: '' },
    'warm-up': { type: 'string' },
    soak: { type: 'string', default: '0' },
    profile: { type: 'string' },
    plain: { type: 'string' },
    cluster: { type: 'string' },
    cells: { type: 'string', default: '16' },
  },
})

/** Whether rough figures are enough. */
export const { quick } = options
/** How long one measurement lasts. */
export const seconds = Number(options.seconds ?? (quick ? 1 : 2))
/** How often a measurement is repeated; its median counts. */
export const rounds = Number(options.rounds ?? (quick ? 1 : 3))
/** How many connections send requests, unless a line says another number. */
export const connections = Number(options.connections)
/**
 * How many requests of a kind come before its measurement. V8 compiles hot code during the first 100,000, some ten seconds
 * of full load; among the first ten thousand, a read costs twice as much processor time, the compiler's own included.
 */
export const warmUp = Number(options['warm-up'] ?? (quick ? 3000 : 100_000))
