import { resolve } from 'node:path'
import type { Input } from './command.ts'
import { CommandError, UsageError } from './command-error.ts'

/**
 * The data directory: `--data`, else `ENROLMENT_DATA`, else ./data. Throws UsageError for an empty `--data` and
 * CommandError for an empty `ENROLMENT_DATA`: a variable that was not set must not mean the current directory.
 */
export function dataDirOf(input: Input): string {
  const given = input.text('data')
  if (given === '')
    throw new UsageError('--data must be a directory, or left out, which means ./data; see --help.')
  const set = input.environment['ENROLMENT_DATA']
  if (given === undefined && set === '')
    throw new CommandError('ENROLMENT_DATA must be a directory; without it the data is in ./data.')
  return resolve(given ?? set ?? './data')
}
