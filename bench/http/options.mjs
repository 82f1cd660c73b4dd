import { parseArgs } from 'node:util'

/** The options of the command, which the head of `http.mjs` lists. */
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
  },
})

/** Whether a first look is enough. */
export const { quick } = options
/** How long one measurement lasts. */
export const seconds = Number(options.seconds ?? (quick ? 1 : 2))
/** How often a measurement is repeated; its median counts. */
export const rounds = Number(options.rounds ?? (quick ? 1 : 3))
/** How many connections send requests, unless a line says another number. */
export const connections = Number(options.connections)
/** V8 goes on compiling hot code for the first 100,000 requests of a kind, some ten seconds of full load: a read costs twice
 * as much processor time among the first ten thousand, which include the compiler's own. */
export const warmUp = Number(options['warm-up'] ?? (quick ? 3000 : 100_000))
