import type { FastifyReply } from 'fastify'
import type { ConsoleContext } from '../console-context.ts'
import type { Provider } from '../operators/provider.ts'
import { plainDocument } from '../views/layout.ts'
import type { ConsoleFiles } from './console-files.ts'
import type { ConsolePlace } from './guard.ts'
import type { Page } from './screen.ts'

/** What every answer of the console is made with. */
export type ConsoleServer = {
  readonly context: ConsoleContext
  readonly place: ConsolePlace
  readonly files: ConsoleFiles
  /** Where operators sign in by OpenID Connect; absent: by links and passkeys alone. */
  readonly provider: Provider | undefined
}

/** Sends a page outside the frame: to somebody who is not signed in. */
export function sendPlain(
  { files }: ConsoleServer,
  reply: FastifyReply,
  { status, page }: { status: number; page: Page },
): FastifyReply {
  return reply.code(status).type('text/html; charset=utf-8').send(plainDocument(files, page))
}
