import { flag, type Input, type Option } from '@benefit-enrolment/command'
import { needsSecond, readPolicy, type SecondPersonAction } from '../../console/requests/store.ts'
import { OperatorError } from '../../operator-error.ts'
import type { Workspace } from '../workspace.ts'

/** The option with which one person does at the shell what the policy gives to two. */
export const aloneOption: Readonly<Record<string, Option>> = {
  alone: flag('do it without the second person whom the policy asks for; this goes on record'),
}

/**
 * Throws OperatorError when the policy asks for a second person, unless the command says `--alone`, which is then part of
 * what is put on record.
 */
export async function waiveSecondPerson(
  input: Input,
  { database, record }: Pick<Workspace, 'database' | 'record'>,
  action: SecondPersonAction,
): Promise<void> {
  if (!needsSecond(await readPolicy(database), action)) return
  if (!input.flag('alone'))
    throw new OperatorError(
      'This needs a second person: ask for it at the console, where another operator confirms it, or give --alone, which goes on record.',
    )
  record({ action: `${input.command} alone` })
}
