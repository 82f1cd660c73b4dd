import type { Input } from './command.ts'
import { CommandError } from './command-error.ts'

/** The result of one check; `remedy` says what to correct, or what only the owner of the checked thing can see. */
export type Finding = {
  readonly check: string
  readonly result: 'ok' | 'warn' | 'fail'
  readonly told: string
  readonly remedy?: string
}

/** Prints what was checked, and what was found. Throws CommandError when a check failed. */
export function printFindings(
  input: Input,
  about: Readonly<Record<string, string>>,
  findings: readonly Finding[],
): void {
  input.print(
    { ...about, findings },
    findings.flatMap(({ check, result, told, remedy }) => [
      `${result.toUpperCase().padEnd(6)}${check.padEnd(18)}${told}`,
      ...(remedy === undefined ? [] : [`${' '.repeat(6)}→ ${remedy}`]),
    ]),
  )
  const failed = findings.filter(({ result }) => result === 'fail').length
  if (failed > 0) throw new CommandError(`${failed} of ${findings.length} checks failed.`)
}
