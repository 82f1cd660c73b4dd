import { spawn } from 'node:child_process'

/** The user and group that PostgreSQL runs as; `undefined` for the user of this process. */
export type Account = { uid: number; gid: number; name: string } | undefined

/** The account as options of `spawn`. */
export function spawnOptionsOf(account: Account): { uid?: number; gid?: number } {
  // macOS reports the id of `nobody`, -2, as 4294967294, but spawn accepts signed numbers only.
  return account ? { uid: account.uid | 0, gid: account.gid | 0 } : {}
}

// The directories of the system's own programs; PostgreSQL's programs are started by their full path.
const systemPath = '/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * Runs a program to its end without this process's environment. When the program cannot be started, the status is
 * -1 and the output says why.
 */
export async function runAs(
  account: Account,
  command: { program: string; args: string[]; cwd: string },
): Promise<{ status: number; output: string }> {
  const child = spawn(command.program, command.args, {
    cwd: command.cwd,
    env: { LC_ALL: 'C', PATH: systemPath },
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

/** The reason that a PostgreSQL program gave for its failure, in a form for the middle of a sentence. */
export function reasonIn(output: string): string {
  const lines = output.split('\n').filter(line => line.trim() !== '')
  const reason = lines.find(line => /\b(FATAL|PANIC|error):/.test(line)) ?? lines.at(-1) ?? 'it said nothing'
  return reason
    .replace(/^.*?\b(FATAL|PANIC|error):\s*/, '')
    .trim()
    .replace(/\.$/, '')
}
