import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { buildOneFile, residentOf } from './one-file.ts'

declare module 'vitest' {
  // biome-ignore lint/style/useConsistentTypeDefinitions: only an interface adds members to one declared elsewhere
  interface ProvidedContext {
    /** The file that is run as `enrolment`: the built one, or in a run of all files one that starts faster. */
    command: string
    /** The program that runs one command after the other, in a run of all files. */
    residentCommand: string | undefined
  }
}

/** Bundles `enrolment` once for the databases of a run of all files, and provides the command to every test. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  if (process.env['TESTS'] === undefined) {
    project.provide('command', fileURLToPath(new URL('../service/bin/enrolment.js', import.meta.url)))
    project.provide('residentCommand', undefined)
    return () => Promise.resolve()
  }
  const folder = await mkdtemp(join(tmpdir(), 'enrolment-command-'))
  const command = await buildOneFile(folder)
  project.provide('command', command)
  project.provide('residentCommand', residentOf(command))
  return () => rm(folder, { recursive: true, force: true })
}
