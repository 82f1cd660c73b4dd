// Type assertions only, never published. This file does not compile when generated.ts differs from the contract's own
// types, because the generator is wrong or ran before the contract changed.
import type * as contract from '@benefit-enrolment/contract'
import type { BulkLine } from './bulk-lines.ts'
import type { Client, ErrorCode, EventName, OAuthErrorCode, Scope } from './generated.ts'
import type { routes } from './generated-routes.ts'
import type { WebhookEvent } from './named-parts.ts'
import type { NoFields } from './options.ts'
import type { OperationName } from './routes.ts'

/** Resolves intersections and aliases, so that only the shape is compared. */
type Plain<T> = T extends object ? { [K in keyof T]: Plain<T[K]> } : T
/**
 * Whether two types are equal in every member, including optional ones, which mutual assignability would not detect.
 */
type Same<A, B> =
  (<T>() => T extends Plain<A> ? 1 : 2) extends <T>() => T extends Plain<B> ? 1 : 2 ? true : false

type Declared = contract.Operations
type PartnerOperation = {
  [Id in keyof Declared]: Declared[Id] extends { lines: true }
    ? never
    : Declared[Id]['caller'] extends 'partner'
      ? Id
      : never
}[keyof Declared]

/**
 * The input of the client's method for an operation: path and query parameters, or the body; `{}` for an operation
 * without input.
 */
type InputOf<T extends contract.Operation> = unknown extends FieldsOf<T> ? NoFields : FieldsOf<T>
type FieldsOf<T extends contract.Operation> = (contract.ParamsOf<T> extends undefined
  ? unknown
  : contract.ParamsOf<T>) &
  (contract.QueryOf<T> extends undefined ? unknown : contract.QueryOf<T>) &
  (contract.BodyOf<T> extends undefined ? unknown : contract.BodyOf<T>)

type RouteOf<T extends contract.Operation> = Pick<T, 'method' | 'path' | 'scope' | 'idempotency'> & {
  readonly hasBody: contract.BodyOf<T> extends undefined ? false : true
}

/** The names for which `Check` is not true; `never` when all are the same. */
type Different<Check> = { [Id in keyof Check]: Check[Id] extends true ? never : Id }[keyof Check]

type Nothing<T extends never> = T

/** Each line names what differs when it does not compile. */
export type Drift = [
  Nothing<Exclude<PartnerOperation, OperationName>>,
  Nothing<Exclude<OperationName, PartnerOperation>>,
  Nothing<Exclude<OperationName, keyof Client> | Exclude<keyof Client, OperationName>>,
  Nothing<Different<{ [Id in OperationName]: Same<(typeof routes)[Id], RouteOf<Declared[Id]>> }>>,
  Nothing<Different<{ [Id in OperationName]: Same<Parameters<Client[Id]>[0], InputOf<Declared[Id]>> }>>,
  Nothing<
    Different<{
      [Id in OperationName]: Same<Awaited<ReturnType<Client[Id]>>, contract.ReplyOf<Declared[Id]>>
    }>
  >,
  Nothing<Exclude<contract.ErrorCode, ErrorCode> | Exclude<ErrorCode, contract.ErrorCode>>,
  Nothing<
    Exclude<contract.OAuthErrorCode, OAuthErrorCode> | Exclude<OAuthErrorCode, contract.OAuthErrorCode>
  >,
  Nothing<
    | Exclude<contract.BulkOperation, BulkLine['operation']>
    | Exclude<BulkLine['operation'], contract.BulkOperation>
  >,
  Nothing<Exclude<contract.Scope, Scope> | Exclude<Scope, contract.Scope>>,
  Nothing<Exclude<contract.EventName, EventName> | Exclude<EventName, contract.EventName>>,
  Nothing<
    Different<{
      event: Same<Omit<WebhookEvent, 'eventname'>, Omit<contract.WebhookEvent, 'eventname'>>
    }>
  >,
]
