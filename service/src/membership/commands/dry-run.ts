import { ofPartner } from '../../db/by-cell.ts'
import type { Command, CommandResult, ExecutorContext } from '../command.ts'
import { decideBatch } from './batch.ts'
import type { CommandExecutor } from './executor.ts'
import { openNewcomers } from './read-batch.ts'

/**
 * An executor that decides commands and writes nothing: each is answered as if it were alone, and keys have no effect. It
 * rejects with what failed.
 */
export function openDryExecutor(given: ExecutorContext): CommandExecutor {
  const context = { ...given, newcomers: openNewcomers() }
  return {
    async submit<Reply>(command: Command<Reply>) {
      const alone = { ...command, reservation: undefined } as Command<unknown>
      const database = ofPartner(given.database, command.partner.partnerId)
      const { results } = await decideBatch({ ...context, database }, [alone], new Set())
      const [result] = results
      if (!result?.ok) throw result?.error
      return result.value as CommandResult<Reply>
    },
  }
}
