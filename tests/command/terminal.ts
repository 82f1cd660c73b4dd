import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { onTestFinished, test } from 'vitest'

const SCRIPT = '/usr/bin/script'

/** A test that needs a terminal, which `script` of util-linux makes; that of macOS has other options. */
export const terminalTest = test.runIf(process.platform === 'linux' && existsSync(SCRIPT))

/** Runs a program on a terminal of its own, with its standard error there, too, unless it goes elsewhere; it is killed after the test. */
export function runOnTerminal(
  command: string,
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): {
  readonly shown: () => string
  readonly type: (keys: string) => void
  readonly ended: Promise<number | null>
} {
  // The shell gives its place to the program: one that stays, as dash does, is ended by Ctrl-C before the program has ended.
  const terminal = spawn(SCRIPT, ['-qfec', `exec ${command}`, '/dev/null'], {
    ...options,
    env: { ...(options.env ?? process.env), SHELL: '/bin/sh' },
  })
  const ended = new Promise<number | null>(resolve => terminal.once('close', resolve))
  onTestFinished(async () => {
    terminal.kill('SIGKILL')
    await ended
  })
  let shown = ''
  terminal.stdout.on('data', chunk => {
    shown += chunk
  })
  return { shown: () => shown, type: keys => void terminal.stdin.write(keys), ended }
}
