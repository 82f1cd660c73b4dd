import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { builtModules, takeBuiltModules } from './tests/built-modules.ts'
import { Progress } from './tests/progress.ts'

/** What takes longest, longest first. */
const long = [
  'tests/trust/exchange',
  'tests/page/frameworks',
  'tests/command/dev.',
  'tests/life/model',
  'tests/console/roles',
  'tests/page/accessible',
  'tests/page/hosted',
  'tests/console/browser',
  'tests/page/embed.',
  'tests/trust/faults',
  'tests/command/mistakes',
  'tests/command/console-process',
  'tests/crash/',
  'tests/webhooks/crash',
  'tests/life/refusals',
  'tests/command/',
  'tests/trust/',
  'tests/page/',
  'tests/console/',
  'tests/docs/',
  'embedded-postgres/',
  'tests/life/month-end',
  'tests/egress/',
  'tests/webhooks/',
]

/** Begins with what takes longest: otherwise a long file is left over for one core while the others rest. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = long.findIndex(part => moduleId.includes(`/${part}`))
      return place < 0 ? long.length : place
    }
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other))
  }
}

// What sets TESTS has just built: `npm test`, `npm run test:all`, `.ci/run`. Who runs a file by its name wants to see what was
// saved a moment ago.
const isBuilt = process.env['TESTS'] !== undefined
const source = isBuilt ? [] : ['source']

export default defineConfig({
  plugins: isBuilt ? [takeBuiltModules()] : [],
  ssr: { resolve: { conditions: [...source, 'module', 'node', 'development|production'] } },
  test: {
    server: { deps: { external: isBuilt ? [builtModules] : [] } },
    include: ['*/src/**/*.test.ts', 'tests/**/*.test.ts'],
    globalSetup: ['tests/global-setup.ts'],
    reporters: process.stdout.isTTY ? ['default'] : ['default', new Progress()],
    sequence: { sequencer: LongestFirst },
    // To load our modules and packages anew, to compile the schemas, and to start a browser takes more processor time than
    // most files: a worker keeps them from file to file.
    isolate: false,
    setupFiles: ['tests/between-files.ts'],
    // Bounds that only catch a hang, on a machine however busy.
    testTimeout: 600_000,
    expect: { poll: { timeout: 180_000 } },
    hookTimeout: 600_000,
    // Much of a test is waiting; what is run by its name shares the machine with whoever watches it.
    maxWorkers: process.env['TESTS'] === 'everyday' ? 4 : 2,
  },
})
