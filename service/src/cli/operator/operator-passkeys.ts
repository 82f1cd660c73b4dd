import { formatTimestamp, timestampOrNull } from '../../calendar/calendar.ts'
import { OperatorError } from '../../operator-error.ts'
import type { Operator } from '../../operators/operator.ts'
import { listPasskeys, removePasskeys } from '../../operators/passkey-store.ts'
import { endOperatorSessions, findOperator } from '../../operators/store.ts'
import { type Command, flag, type Input } from '../command.ts'
import { inWorkspace } from '../workspace.ts'

/** The audit entry of a command about an operator names that operator by id, since a name may be personal data. */
export function concerning(
  { command }: Pick<Input, 'command'>,
  { operatorId }: Pick<Operator, 'operatorId'>,
  ...words: readonly string[]
): { readonly action: string } {
  return { action: [command, ...words, operatorId].join(' ') }
}

/** `enrolment operator passkeys`: shows an operator's passkeys, or removes all of them. */
export const passkeys: Command = {
  name: 'operator passkeys',
  arguments: ['NAME'],
  summary: 'List the passkeys of an operator, or remove them all.',
  options: {
    remove: flag('remove all, and end open sessions: for a lost device'),
  },
  run: input =>
    inWorkspace(input, async ({ database, real, commit, record }) => {
      const [name = ''] = input.positionals
      const operator = await findOperator(database, name)
      if (!operator) throw new OperatorError(`There is no operator ${name}: see \`enrolment operator list\`.`)
      const isRemoval = input.flag('remove')
      record(concerning(input, operator, ...(isRemoval ? ['remove'] : [])))
      if (isRemoval) {
        const removed = await commit(async tx => {
          await endOperatorSessions(tx, operator.operatorId, real())
          return removePasskeys(tx, operator.operatorId)
        })
        input.print({ name, removed }, [
          `${name} has no passkeys any more (${removed} removed); open sessions have ended.`,
        ])
        return
      }
      const listed = (await listPasskeys(database, operator.operatorId)).map(one => ({
        passkey: one.id.slice(0, 8),
        createdat: formatTimestamp(one.createdAt),
        lastusedat: timestampOrNull(one.lastUsedAt),
      }))
      input.print(
        { name, passkeys: listed },
        listed.length === 0
          ? [`${name} has no passkeys.`]
          : listed.map(
              one => `${one.passkey}  added ${one.createdat}  last used ${one.lastusedat ?? 'never'}`,
            ),
      )
    }),
}
