import { type ChildProcess, spawn } from 'node:child_process'
import { inject } from 'vitest'

/** How a command ended and what it wrote. */
export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

/** A command line and where it runs. */
type CommandLine = {
  readonly words: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
}

let resident: ChildProcess | undefined
let isBusy = false

/**
 * Runs a command in the process that stays for this worker's commands, as starting Node and loading the program costs more than
 * most of them; returns `undefined` while another runs there. A command that ends that process has the code `null`.
 */
export async function runInResident(line: CommandLine): Promise<Ended | undefined> {
  const program = inject('residentCommand')
  if (program === undefined || isBusy) return undefined
  isBusy = true
  resident ??= start(program)
  try {
    return await answerOf(resident, line)
  } finally {
    isBusy = false
  }
}

function start(program: string): ChildProcess {
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  child.once('exit', () => {
    resident = undefined
  })
  // The worker may end before it, and it ends with the worker.
  child.unref()
  child.channel?.unref()
  return child
}

function answerOf(child: ChildProcess, line: CommandLine): Promise<Ended> {
  return new Promise(resolve => {
    const answered = (ended: Ended) => {
      child.off('exit', died)
      child.channel?.unref()
      resolve(ended)
    }
    const died = () => {
      child.off('message', answered)
      resolve({ code: null, stdout: '', stderr: 'the process of commands ended' })
    }
    child.channel?.ref()
    child.once('message', answered).once('exit', died)
    child.send(line)
  })
}
