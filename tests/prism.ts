import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Prism as a proxy before one service; it compares each request and each answer with the description of that service. */
export type Prism = { readonly address: string; readonly close: () => Promise<void> }

/** The folder in which its packages are installed, where a run asks for it: `scripts/check-interface.sh` does. */
const folder = process.env['TEST_PRISM']

/** Starts it where the run asks for it. Below a stage path it would look for the description in the wrong place, so not there. */
export async function startPrism(service: string, stagePath = ''): Promise<Prism | undefined> {
  if (folder === undefined || stagePath !== '') return undefined
  proxies ??= start(folder)
  const { address } = await ask(proxies, { service })
  return {
    address,
    close: async () => {
      if (proxies) await ask(proxies, { close: address })
    },
  }
}

// Starting it costs more than most files, so a worker keeps one for all its files.
let proxies: ChildProcess | undefined

function start(packages: string): ChildProcess {
  const program = fileURLToPath(new URL('prism-proxies.mjs', import.meta.url))
  const child = spawn(process.execPath, [program, packages], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  child.setMaxListeners(0)
  child.once('exit', () => {
    proxies = undefined
  })
  // The worker may end before it, and it ends with the worker.
  child.unref()
  child.channel?.unref()
  return child
}

let asked = 0

function ask(
  child: ChildProcess,
  what: { service: string } | { close: string },
): Promise<{ address: string }> {
  asked += 1
  const id = asked
  return new Promise((resolve, reject) => {
    const answered = (answer: { id: number; address: string; refused?: string }) => {
      if (answer.id !== id) return
      settle()
      if (answer.refused === undefined) resolve(answer)
      else reject(new Error(`Prism: ${answer.refused}`))
    }
    const ended = () => {
      settle()
      reject(new Error('Prism ended'))
    }
    const settle = () => {
      child.off('message', answered).off('exit', ended)
      child.channel?.unref()
    }
    child.channel?.ref()
    child.on('message', answered).on('exit', ended)
    child.send({ id, ...what })
  })
}

/**
 * What Prism found in one exchange: a wrong answer, or a request against the description that was not refused. A list that is too
 * long for a header is cut, and can no longer be read.
 */
export function foundByPrism({ status, headers }: { status: number; headers: Headers }): string[] {
  const told = headers.get('sl-violations') ?? '[]'
  if (told.startsWith('Too many violations!')) return status < 400 ? [`Prism: ${told.slice(0, 300)}`] : []
  const found = JSON.parse(told) as { location: string[]; message: string }[]
  return found
    .filter(({ location }) => location[0] !== 'request' || status < 400)
    .map(({ location, message }) => `Prism: ${location.join('.')}: ${message}`)
}
