import { type Client, isBenefitEnrolmentError } from '../../client/src/index.ts'
import { ada } from '../rig.ts'

/** The result of one write, as its caller saw it. */
export type Written = { readonly userid: string; readonly kind: 'prefill' | 'create' }

/** Writes that are sent until they are stopped. */
export type Load = {
  /** Those that were answered 2xx, or with a 409 that says that an earlier attempt succeeded. */
  readonly acknowledged: readonly Written[]
  /** Codes of all other answers except passing failures; there must be none. */
  readonly wrong: readonly string[]
  /** Starts no more writes, and waits for those under way. */
  stop(): Promise<void>
}

const passing = new Set(['network', 'timeout', 'unavailable'])

/**
 * Starts writers that prefill (v2, with a key) and create new users. Each write is repeated with its key until it is
 * acknowledged; a write that is not acknowledged when the load stops may or may not have taken effect.
 */
export function startLoad(client: Client, options: { writers: number; name: string }): Load {
  const acknowledged: Written[] = []
  const wrong: string[] = []
  let isStopped = false
  const write = async (userid: string, kind: Written['kind']): Promise<void> => {
    const call = { userid, ...ada }
    while (!isStopped) {
      try {
        if (kind === 'prefill') await client.prefillUser(call, { idempotencyKey: `${userid}-key` })
        else await client.createUser({ ...call, offername: 'starter' }, { idempotencyKey: `${userid}-key` })
        acknowledged.push({ userid, kind })
        return
      } catch (error) {
        const code = isBenefitEnrolmentError(error) ? error.code : String(error)
        if (code === 'user_exists' && kind === 'prefill') {
          acknowledged.push({ userid, kind })
          return
        }
        if (!passing.has(code)) {
          wrong.push(`${kind} ${code}`)
          return
        }
        await new Promise(resolve => setTimeout(resolve, 20))
      }
    }
  }
  const writer = async (name: string): Promise<void> => {
    for (let count = 0; !isStopped; count += 1)
      await write(`${name}-${count}`, count % 4 === 3 ? 'create' : 'prefill')
  }
  const writers = Array.from({ length: options.writers }, (_, index) => writer(`${options.name}-${index}`))
  return {
    acknowledged,
    wrong,
    async stop() {
      isStopped = true
      await Promise.all(writers)
    },
  }
}
