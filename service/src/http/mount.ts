import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import {
  type BodyOf,
  type Locale,
  type Operation,
  type OperationIdOf,
  type Operations,
  operations,
  type ParamsOf,
  type QueryOf,
  type ReplyOf,
} from '@benefit-enrolment/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { localeOf } from './locale.ts'
import { badField, ServiceError } from './service-error.ts'
import { compileCheck, queryOf, queryTextOf } from './validation.ts'

/** A request as a handler sees it; `Caller` is the authenticated caller. */
export type OperationRequest<T extends Operation, Caller> = {
  readonly operation: Operation
  /** The body without what is null where that means not given. */
  readonly body: BodyOf<T>
  /** The body as it was sent, by which a repeat is known; `undefined` when the operation takes none. */
  readonly sent: unknown
  readonly params: ParamsOf<T>
  readonly query: QueryOf<T>
  readonly headers: IncomingHttpHeaders
  readonly locale: Locale
  readonly requestId: string
  /** The caller's network address. */
  readonly address: () => string
  readonly caller: Caller
  /** The path with its parameters, and the query unchanged; both are part of what makes two requests the same. */
  readonly target: () => { readonly path: string; readonly query: string }
  /** Sets a header of the answer. */
  readonly setHeader: (name: string, value: string) => void
}

/** A handler's answer: a value of the declared reply, or finished JSON. */
export type OperationReply<T extends Operation> = ReplyOf<T> | ReadyJson | ReadyStream

/** A reply that is already JSON, in UTF-8. */
export class ReadyJson {
  readonly bytes: Buffer
  constructor(bytes: Buffer) {
    this.bytes = bytes
  }
}

/** A reply of a media type other than JSON. */
export class ReadyText {
  readonly text: string
  readonly type: string
  constructor(text: string, type: string) {
    this.text = text
    this.type = type
  }
}

/** A reply of a media type other than JSON that is written while it is made. */
export class ReadyStream {
  readonly stream: Readable
  readonly type: string
  constructor(stream: Readable, type: string) {
    this.stream = stream
    this.type = type
  }
}

/** A handler for each of these operations: an object that lacks one does not compile. */
export type Handlers<Caller, Ids extends OperationIdOf<'partner'>> = {
  readonly [Id in Ids]: Handler<Operations[Id], Caller>
}

/** Answers one operation, or rejects with ServiceError. */
export type Handler<T extends Operation, Caller> = (
  request: OperationRequest<T, Caller>,
) => Promise<OperationReply<T>> | OperationReply<T>

/** Authenticates a request of an operation, before its body is read. */
type Authenticate<Caller> = (request: FastifyRequest, operation: Operation) => Caller | Promise<Caller>

const noQuery = { type: 'object', additionalProperties: false }

/** What mounting needs: the stage path, how callers are authenticated, and their limits. */
export type MountContext<Caller> = {
  readonly basePath: string
  readonly authenticate: Authenticate<Caller>
  /** Counts one request of a caller; returns the headers that report the limit, and a refusal when it is used up. */
  readonly limit: (
    caller: Caller,
  ) => { headers: Readonly<Record<string, string>>; refusal: ServiceError | undefined } | undefined
  /** The operations whose handlers take turns of their own (`shedding/long-reads.ts`). */
  readonly longOperations?: ReadonlySet<Operation['id']>
  /** Called with a body that its schema refused, before the refusal is answered. */
  readonly onRefusedBody?: (caller: Caller, refused: RefusedBody) => void
}

/** A body that does not match the operation's schema, and its faults. */
export type RefusedBody = {
  readonly operation: Operation
  readonly body: unknown
  readonly requestId: string
  readonly error: ServiceError
}

/**
 * Mounts the operations of these handlers: route, validation, handler and serialization follow from their declarations.
 * The operations of the callers `open` and `client` are mounted by hand, because they answer documents and read forms, so no
 * type notices when one of them is missing.
 */
export function mountOperations<Caller, Ids extends OperationIdOf<'partner'>>(
  app: FastifyInstance,
  handlers: Handlers<Caller, Ids>,
  context: MountContext<Caller>,
): void {
  for (const id of Object.keys(handlers) as Ids[]) {
    mountOperation(app, operations[id], handlers[id] as unknown as Handler<Operation, Caller>, context)
  }
}

/** Checks a request by its operation's declaration, and answers it. Throws or rejects with ServiceError. */
export type Perform<Caller> = (
  request: Omit<OperationRequest<Operation, Caller>, 'operation' | 'body' | 'sent' | 'params' | 'query'> & {
    readonly body: unknown
    readonly params: unknown
    readonly query: Readonly<Record<string, unknown>>
  },
) => unknown

/** Compiles the checks of an operation before its handler. */
export function performer<Caller>(
  operation: Operation,
  handler: Handler<Operation, Caller>,
  onRefusedBody?: MountContext<Caller>['onRefusedBody'],
): Perform<Caller> {
  const checkBody = operation.body && compileCheck(operation.body, 'body')
  const checkQuery = compileCheck(operation.query ?? noQuery, 'query')
  const checkParams = operation.params && compileCheck(operation.params, 'path')
  return request => {
    const { body, requestId } = request
    // A body that the operation does not read is refused, so that its content is not lost silently.
    if (!operation.body && !isEmpty(body)) throw badField('body', 'unknown_field', 'must not be sent here')
    checkParams?.(request.params)
    checkQuery(request.query)
    let given: unknown
    try {
      given = checkBody?.(body)
    } catch (error) {
      if (error instanceof ServiceError)
        onRefusedBody?.(request.caller, { operation, body, requestId, error })
      throw error
    }
    // Member by member, because a spread takes 3 % of a prefill's time.
    return handler({
      operation,
      body: given,
      sent: checkBody && body,
      params: request.params,
      query: request.query,
      headers: request.headers,
      locale: request.locale,
      requestId,
      address: request.address,
      caller: request.caller,
      target: request.target,
      setHeader: request.setHeader,
    } as never)
  }
}

function mountOperation<Caller>(
  app: FastifyInstance,
  operation: Operation,
  handler: Handler<Operation, Caller>,
  context: MountContext<Caller>,
): void {
  const perform = performer(operation, handler, context.onRefusedBody)
  const { basePath } = context
  app.route({
    method: operation.method,
    url: basePath + operation.path.replace(/\{(\w+)\}/g, ':$1'),
    config: {
      operation,
      ...(operation.body && { takes: 'application/json' }),
      takesTurns: context.longOperations?.has(operation.id) ?? false,
    },
    onRequest: admitCaller(operation, context),
    handler: (request, reply) => {
      const answer = perform({
        body: request.body,
        params: request.params,
        query: request.url.includes('?') ? queryOf(request) : {},
        headers: request.headers,
        locale: localeOf(request.headers['accept-language']),
        requestId: request.id,
        caller: request.caller as Caller,
        address: () => request.ip,
        target: () => ({
          path: pathOf(operation, request.params as Record<string, string>),
          query: queryTextOf(request.url),
        }),
        setHeader: (name, value) => void reply.header(name, value),
      })
      // Not awaited, because an asynchronous function would add a promise to the handler's own.
      if (answer instanceof Promise) return answer.then(made => sendAnswer(request, reply, made))
      return sendAnswer(request, reply, answer)
    },
  })
}

/** The path of a request, the same however its parameters were encoded. */
function pathOf(operation: Operation, params: Readonly<Record<string, string>>): string {
  return operation.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
}

/** Authenticates the caller of an operation and counts the request, before its body is read. */
export function admitCaller<Caller>(
  operation: Operation,
  { authenticate, limit }: Pick<MountContext<Caller>, 'authenticate' | 'limit'>,
): onRequestHookHandler {
  return (request, reply, done) => {
    const admit = (known: Caller) => {
      request.caller = known
      const state = limit(known)
      if (state) for (const [name, value] of Object.entries(state.headers)) reply.header(name, value)
      done(state?.refusal)
    }
    let caller: Caller | Promise<Caller>
    try {
      caller = authenticate(request, operation)
    } catch (error) {
      done(error as Error)
      return
    }
    // An answer from memory is not awaited, because a promise per request costs more than the check itself.
    if (!(caller instanceof Promise)) {
      admit(caller)
      return
    }
    caller.then(admit, (error: Error) => done(error))
  }
}

function sendAnswer(request: FastifyRequest, reply: FastifyReply, answer: unknown): FastifyReply | undefined {
  const begunAt = performance.now()
  if (answer instanceof ReadyText) {
    reply.type(answer.type).send(answer.text)
    return undefined
  }
  if (answer instanceof ReadyStream) {
    // Returned, because Fastify would otherwise end the answer before the stream has begun.
    return reply.header('cache-control', 'no-store').type(answer.type).send(answer.stream)
  }
  // Fastify would send a string as plain text, so every reply is serialized here.
  const json = answer instanceof ReadyJson ? answer.bytes : JSON.stringify(answer)
  // Answers contain personal data, so no cache on the way may keep them.
  reply.header('cache-control', 'no-store').type('application/json; charset=utf-8').send(json)
  request.loopMs += performance.now() - begunAt
  return undefined
}

/** No body, or an object without members, which some clients send with every POST. */
function isEmpty(body: unknown): boolean {
  return !body || (typeof body === 'object' && !Array.isArray(body) && Object.keys(body).length === 0)
}
