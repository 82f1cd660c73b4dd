import { existsSync } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vitest/config'

const root = fileURLToPath(new URL('..', import.meta.url))
const inSource = /^(contract|command|embedded-postgres|service|client|cli)\/src\/(.*)\.tsx?$/
const isTest = /(^|\/)tests?\/|\.test\.tsx?$/

/** What was built of the packages, which Node loads itself. */
export const builtModules = /\/(contract|command|embedded-postgres|service|client|cli)\/dist\/.*\.js$/

/**
 * Gives tests the built module in place of the source that they import. Vite would turn each source file into code of its own
 * for each worker, in which every use of an import is a look-up, so that loading costs twice as much and running a quarter more.
 * What was not built, and what is asked for with `?anew`, is taken from the source.
 */
export function takeBuiltModules(): Plugin {
  return {
    name: 'built modules',
    enforce: 'pre',
    resolveId(wanted, importer) {
      if (importer === undefined || !/^\.{1,2}\//.test(wanted) || !isTest.test(importer)) return undefined
      const built = builtFrom(resolve(dirname(importer), wanted))
      return built !== undefined && existsSync(built) ? built : undefined
    },
  }
}

function builtFrom(source: string): string | undefined {
  const [, name, module] = inSource.exec(source.slice(root.length).split(sep).join('/')) ?? []
  return name === undefined ? undefined : join(root, name, 'dist', `${module}.js`)
}
