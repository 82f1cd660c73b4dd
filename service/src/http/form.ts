import { queryTextOf } from './validation.ts'

/** The fields of a body that was posted as `application/x-www-form-urlencoded`; no other body has any. */
export function formIn(body: unknown): URLSearchParams {
  return new URLSearchParams(typeof body === 'string' ? body : '')
}

/** The query of a request's address. */
export function queryIn(url: string): URLSearchParams {
  return new URLSearchParams(queryTextOf(url))
}
