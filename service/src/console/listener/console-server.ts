import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Operator } from '../../operators/operator.ts'
import type { Provider } from '../../operators/provider.ts'
import { openSession } from '../../operators/sign-in.ts'
import type { ConsoleContext } from '../console-context.ts'
import type { ConsoleFiles } from '../screen/console-files.ts'
import { record } from '../screen/record.ts'
import type { ConsolePage, OperatorVisit } from '../screen/screen.ts'
import { consoleDocument, plainDocument } from '../views/layout.ts'
import { type ConsoleAddress, setCookie } from './guard.ts'

/** The context for every answer of the console. */
export type ConsoleServer = {
  readonly context: ConsoleContext
  readonly address: ConsoleAddress
  readonly files: ConsoleFiles
  /** The OpenID Connect provider at which operators sign in; absent: they use only links. */
  readonly provider: Provider | undefined
}

/** What Fastify knows of an address that takes a form. */
export const takesForm = { config: { takes: 'application/x-www-form-urlencoded' } } as const

/** Sends a page: without navigation to somebody who is not signed in. */
export function sendPage(
  { files }: ConsoleServer,
  reply: FastifyReply,
  page: ConsolePage,
  visit?: OperatorVisit,
): FastifyReply {
  const document = visit ? consoleDocument(visit, files, page) : plainDocument(files, page)
  return reply
    .code(page.status ?? 200)
    .type('text/html; charset=utf-8')
    .send(document)
}

/** Signs an operator in who has proved their identity, on record, and leads to a page of the console. */
export async function signIn(
  { context, address }: ConsoleServer,
  reply: FastifyReply,
  { operator, action, to }: { operator: Signing; action: string; to: string },
): Promise<FastifyReply> {
  const secret = await openSession(context, operator)
  await record(signingIn(context, reply.request, operator), { action })
  return reply
    .code(303)
    .header('Set-Cookie', setCookie('session', secret, address))
    .header('Location', to)
    .send()
}

type Signing = Pick<Operator, 'operatorId'>

/** A request as the audit log needs it of an operator who has no session yet. */
export function signingIn(context: ConsoleContext, request: FastifyRequest, operator: Signing) {
  return { context, operator, requestId: request.id, address: request.ip }
}

/** Counts a sign-in of somebody who is no operator. */
export function noteRefused({ context }: ConsoleServer, request: FastifyRequest): void {
  context.trail.noteRefusal({ partnerId: undefined, credentialId: '', address: request.ip })
}
