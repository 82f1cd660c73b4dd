import { parseArgs } from 'node:util'

/** The options of the command, which the head of `http.mjs` lists. */
export const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    seconds: { type: 'string' },
    rounds: { type: 'string' },
    connections: { type: 'string', default: '64' },
    users: { type: 'string' },
    scenario: { type: 'string', default: '' },
    'warm-up': { type: 'string' },
    soak: { type: 'string', default: '0' },
    profile: { type: 'string' },
  },
})
