import type { PageSessionRow } from './store.ts'

/**
 * The author of what a session does. An operator's link is told apart, because the operator may have opened it: only the
 * partner knows that its own link reached the person.
 */
export function authorOf({ made_by }: Pick<PageSessionRow, 'made_by'>): 'user' | 'operatorlink' {
  return made_by === null ? 'user' : 'operatorlink'
}
