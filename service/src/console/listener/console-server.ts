import type { FastifyReply } from 'fastify'
import type { ConsoleContext } from '../console-context.ts'
import type { Provider } from '../operators/provider.ts'
import type { ConsoleFiles } from '../screen/console-files.ts'
import type { ConsolePage } from '../screen/screen.ts'
import { plainDocument } from '../views/layout.ts'
import type { ConsoleAddress } from './guard.ts'

/** The context for every answer of the console. */
export type ConsoleServer = {
  readonly context: ConsoleContext
  readonly address: ConsoleAddress
  readonly files: ConsoleFiles
  /** The OpenID Connect provider at which operators sign in; absent: they use only links and passkeys. */
  readonly provider: Provider | undefined
}

/** Sends a page without navigation, to somebody who is not signed in. */
export function sendPlain(
  { files }: ConsoleServer,
  reply: FastifyReply,
  { status, page }: { status: number; page: ConsolePage },
): FastifyReply {
  return reply.code(status).type('text/html; charset=utf-8').send(plainDocument(files, page))
}
