import { existsSync } from 'node:fs'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { builtModules, takeBuiltModules } from './tests/built-modules.ts'
import { readLanes } from './tests/lanes.ts'

// TESTS is `everyday` (npm test), `ci` (.ci/run), `whole` (`npm run test:long`) or unset: a file run by its name.
const { TESTS: pass, TEST_STOCK_URL: stock, TEST_CITUS_URL: citus, TEST_PRISM: prism } = process.env
if (!existsSync(new URL('service/dist/docs/site.json', import.meta.url))) {
  process.stderr.write('Nothing is built in this checkout yet: run `npm run setup`, then this again.\n')
  process.exit(1)
}
const isDaily = pass === 'everyday' || pass === 'ci'
const everyday = isDaily ? { TESTS: 'everyday' } : {}

const lanes = readLanes()
const filesOf = (lane: (file: (typeof lanes)[number]) => boolean) =>
  lanes.filter(lane).map(({ file }) => file)
const slow = new Set(filesOf(file => file.slow))
const whole = pass === 'ci' ? filesOf(file => file.whole) : []
const elsewhere = pass === 'everyday' ? filesOf(file => file.browser) : whole
const nightly = isDaily ? filesOf(file => file.nightly) : []
/** A bound that only catches a hang, on a machine however busy. */
const patience = 600_000
function filesOn(database: string): string[] {
  if (process.env['EXPLAIN']) return ['tests/database/statements.ts']
  return filesOf(file => file.databases.includes(database)).filter(file => !nightly.includes(file))
}

function project(
  name: string,
  include: string[],
  env: Record<string, string>,
  exclude: string[] = [],
): TestProjectInlineConfiguration {
  return {
    plugins: [takeBuiltModules()],
    test: {
      name,
      include,
      exclude: ['**/node_modules/**', ...exclude],
      env,
      server: { deps: { external: [builtModules] } },
      globalSetup: ['tests/global-setup.ts'],
      // To load our modules and packages anew, to compile the schemas, and to start a browser takes more processor time than
      // most files: a worker keeps them from file to file.
      isolate: false,
      setupFiles: ['tests/between-files.ts'],
      testTimeout: patience,
      expect: { poll: { timeout: (patience / 3) * 2 } },
      hookTimeout: patience,
    },
  }
}

const projects = [
  project('embedded', ['*/src/**/*.test.ts', 'tests/**/*.test.ts'], everyday, [...elsewhere, ...nightly]),
  ...(pass === 'ci' ? [project('whole', whole, { TESTS: 'whole' })] : []),
  ...(prism
    ? [
        project(
          'prism',
          filesOf(file => file.prism),
          {},
        ),
      ]
    : []),
  ...(process.env['PICTURES'] ? [project('pictures', ['tests/page/pictures.ts'], {})] : []),
  ...(citus ? [project('citus', filesOn('citus'), { ...everyday, TEST_DATABASE_URL: citus })] : []),
  ...(stock ? [project('stock', filesOn('stock'), { ...everyday, TEST_DATABASE_URL: stock })] : []),
]

/** One project after the other, because a worker starts anew for each; in it what takes longest first. */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ project, moduleId }: TestSpecification) =>
      2 * ['citus', 'whole', 'embedded', 'stock', 'prism'].indexOf(project.name) +
      ([...slow].some(file => moduleId.endsWith(`/${file}`)) ? 0 : 1)
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other))
  }
}

export default defineConfig({
  test: {
    projects,
    globalSetup: ['tests/build-first.ts'],
    // Tests take what was built of them.
    forceRerunTriggers: ['{contract,command,embedded-postgres,service,client,cli}/src/**/*.ts'],
    sequence: { sequencer: SlowFirst },
    // Much of a test is waiting; what is run by its name shares the machine with whoever watches it.
    maxWorkers: pass === 'ci' ? 6 : pass ? 4 : 2,
  },
})
