import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** What takes longest, longest first. */
const long = [
  'tests/life/model',
  'tests/page/accessible',
  'tests/command/',
  'tests/webhooks/crash',
  'tests/page/',
  'service/src/embedded/',
  'tests/life/month-end',
  'tests/crash/',
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

export default defineConfig({
  ssr: { resolve: { conditions: ['source', 'module', 'node', 'development|production'] } },
  test: {
    // To load the packages anew takes more processor time than most files: a worker keeps them from file to file.
    isolate: false,
    setupFiles: ['tests/fresh-modules.ts'],
    include: ['*/src/**/*.test.ts', 'tests/**/*.test.ts'],
    globalSetup: ['tests/global-setup.ts'],
    sequence: { sequencer: LongestFirst },
    testTimeout: 60_000,
    // Bounds that only catch a hang.
    expect: { poll: { timeout: 20_000 } },
    hookTimeout: 120_000,
    maxWorkers: 2,
  },
})
