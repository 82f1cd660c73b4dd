import { spawn } from 'node:child_process'
import type { Account } from './account.ts'

/** The account as options of `spawn`. */
export function spawnOptionsOf(account: Account): { uid?: number; gid?: number } {
  // macOS shows nobody's id, -2, as 4294967294, and spawn takes signed numbers only.
  return account ? { uid: account.uid | 0, gid: account.gid | 0 } : {}
}

/** Runs one program to its end with an empty environment; one that cannot be started has status -1 and says why. */
export async function runAs(
  account: Account,
  command: { program: string; args: string[]; cwd: string },
): Promise<{ status: number; output: string }> {
  const child = spawn(command.program, command.args, {
    cwd: command.cwd,
    env: { LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...spawnOptionsOf(account),
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (printed: Buffer) => {
      output += printed
    })
  return new Promise(resolve => {
    child.once('error', error => resolve({ status: -1, output: error.message }))
    child.once('close', code => resolve({ status: code ?? -1, output }))
  })
}

/** A PostgreSQL program's own words for why it failed, fit for the middle of a sentence. */
export function reasonIn(output: string): string {
  const lines = output.split('\n').filter(line => line.trim() !== '')
  const telling = lines.find(line => /\b(FATAL|PANIC|error):/.test(line)) ?? lines.at(-1) ?? 'it said nothing'
  return telling
    .replace(/^.*?\b(FATAL|PANIC|error):\s*/, '')
    .trim()
    .replace(/\.$/, '')
}
