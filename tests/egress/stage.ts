import { onTestFinished } from 'vitest'
import {
  createOutgoing,
  type Outgoing,
  type OutgoingOptions,
} from '../../service/src/webhooks/egress/outgoing.ts'
import { type Endpoint, type Script, startEndpoint } from './endpoint.ts'

/** Far longer than any test takes, so that a limit that a test does not set itself never applies. */
const patient = { deadlineMs: 50_000, connectMs: 50_000, tlsMs: 50_000 }

/** A sender that is closed after the test. */
export function openOutgoing(options: OutgoingOptions): Outgoing {
  const outgoing = createOutgoing({ ...patient, ...options })
  onTestFinished(() => outgoing.close())
  return outgoing
}

/** An endpoint that follows a script and is closed after the test. */
export async function endpoint(
  script: Script,
  options?: Parameters<typeof startEndpoint>[1],
): Promise<Endpoint> {
  const started = await startEndpoint(script, options)
  onTestFinished(() => started.close())
  return started
}

/** A script that answers each request with these bytes. */
export function answering(text: string | Buffer): Script {
  return { onRequest: socket => socket.write(text) }
}
