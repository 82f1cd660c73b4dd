import { Unavailable } from '../../db/failure.ts'
import type { CommandExecutor } from './executor.ts'

/**
 * Refuses writes while the disk is nearly full, because the database must never run out of disk, and while the copy is
 * quiet.
 */
export function guardWrites(executor: CommandExecutor, mayNotWrite: () => boolean): CommandExecutor {
  return {
    submit: command =>
      mayNotWrite()
        ? Promise.reject(new Unavailable('nothing may be written now'))
        : executor.submit(command),
  }
}
