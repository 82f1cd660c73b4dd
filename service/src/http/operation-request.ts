import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { BodyOf, Locale, Operation, ParamsOf, QueryOf, ReplyOf } from '@benefit-enrolment/contract'

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
