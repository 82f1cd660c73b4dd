import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { freePort } from './free-port.ts'

/** Prism as a proxy before one service; it compares each request and each answer with the description of that service. */
export type Prism = { readonly address: string; readonly close: () => Promise<void> }

/** The program, where a run asks for it: `scripts/check-interface.sh` does. */
const program = process.env['TEST_PRISM']

/** Starts it where the run asks for it. Below a stage path it would look for the description in the wrong place, so not there. */
export async function startPrism(service: string, stagePath = ''): Promise<Prism | undefined> {
  if (program === undefined || stagePath !== '') return undefined
  const port = await freePort()
  const words = ['proxy', '-h', '127.0.0.1', '-p', String(port), `${service}/openapi.json`, service]
  const child = spawn(program, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  await listening(child)
  return {
    address: `http://127.0.0.1:${port}`,
    close: async () => {
      child.kill()
      await once(child, 'exit')
    },
  }
}

function listening(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', chunk => {
      if (String(chunk).includes('Prism is listening')) resolve()
    })
    child.once('exit', code => reject(new Error(`Prism ended with ${code}`)))
  })
}

/** What Prism found in one exchange: a wrong answer, or a request against the description that was not refused. */
export function foundByPrism({ status, headers }: { status: number; headers: Headers }): string[] {
  const found = JSON.parse(headers.get('sl-violations') ?? '[]') as { location: string[]; message: string }[]
  return found
    .filter(({ location }) => location[0] !== 'request' || status < 400)
    .map(({ location, message }) => `Prism: ${location.join('.')}: ${message}`)
}
