import type { Scope } from './generated.ts'
import { routes } from './generated-routes.ts'

/** The method and path of an operation, whether it takes a body, and how it treats an `Idempotency-Key` (contract §4). */
export type Route = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly scope: Scope
  readonly idempotency: 'prefill' | 'keyed' | 'ignored'
  readonly hasBody: boolean
}

/** The name of an operation, which is also the name of the client's method. */
export type OperationName = keyof typeof routes

/** The route of an operation. */
export function routeOf(operation: OperationName): Route {
  return routes[operation]
}
