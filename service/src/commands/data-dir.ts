import { resolve } from 'node:path'
import type { Input } from './command.ts'

/** The data directory: `--data`, else `ENROLMENT_DATA`, else ./data. */
export function dataDirOf(input: Input): string {
  return resolve(input.text('data') ?? (input.environment['ENROLMENT_DATA'] || './data'))
}
