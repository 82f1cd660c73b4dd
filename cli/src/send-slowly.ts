import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { setTimeout as pause } from 'node:timers/promises'

/** The answer of a receiver: a status, or why there is none; and how long it took. */
export type ReceiverAnswer = { readonly status?: number; readonly error?: string; readonly ms: number }

const LONGEST_MS = 15_000

/**
 * Sends one POST, its body in pieces with a pause before each further piece, and waits for the status as long as the
 * service does: 15 s. Never throws; a receiver that breaks off early may have answered before.
 */
export async function sendPieces(
  target: string,
  headers: Readonly<Record<string, string>>,
  pieces: readonly (string | Buffer)[],
  pauseMs = 0,
): Promise<ReceiverAnswer> {
  const began = performance.now()
  const since = () => Math.round(performance.now() - began)
  const length = pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0)
  const send = target.startsWith('https:') ? requestHttps : requestHttp
  const outgoing = send(target, {
    method: 'POST',
    headers: { ...headers, 'content-length': String(length) },
    // One connection for all checks would send thirteen requests at once over it, which would be a different test.
    agent: false,
    signal: AbortSignal.timeout(LONGEST_MS),
  })
  const answered = new Promise<ReceiverAnswer>(resolve => {
    outgoing.once('response', response => {
      response.resume()
      resolve({ status: response.statusCode ?? 0, ms: since() })
    })
    outgoing.once('error', error => {
      const isLate = error.name === 'AbortError' || error.name === 'TimeoutError'
      const code = (error as { code?: string }).code
      resolve({ error: isLate ? 'no answer within 15 s' : (code ?? 'broken connection'), ms: since() })
    })
  })
  let isAnswered = false
  void answered.then(() => {
    isAnswered = true
  })
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) await Promise.race([pause(pauseMs), answered])
    // Nobody waits any more for what an answered receiver has not read.
    if (outgoing.destroyed || isAnswered) break
    if (!outgoing.write(piece))
      await Promise.race([new Promise(resolve => outgoing.once('drain', resolve)), answered])
  }
  outgoing.end()
  const answer = await answered
  outgoing.destroy()
  return answer
}
