import type { Role } from './operator.ts'

/** The rights that a group of the identity provider has at the console. */
export type GroupRights = {
  readonly group: string
  readonly role: Role
  /** `undefined`: all partners, also those created later. */
  readonly partners: readonly string[] | undefined
}

/** An operator's role, and the partners for which it holds. */
export type Rights = { readonly role: Role; readonly partners: readonly string[] | undefined }

/**
 * The rights of a person in these groups; `undefined` when none of them has a role. Only the highest role counts, for
 * the partners of the groups that give it: a person who may look at all partners and act for one has only the right to
 * act for that one. A developer works for one partner: the one of the first of their groups.
 */
export function rightsOf(mapped: readonly GroupRights[], groups: readonly string[]): Rights | undefined {
  const own = mapped.filter(({ group }) => groups.includes(group))
  const role = HIGHEST_FIRST.find(one => own.some(given => given.role === one))
  if (role === undefined) return undefined
  const given = own.filter(one => one.role === role)
  const partners = (role === 'developer' ? given.slice(0, 1) : given).flatMap(one => one.partners ?? [])
  return {
    role,
    partners: given.some(one => one.partners === undefined) ? undefined : [...new Set(partners)],
  }
}

const HIGHEST_FIRST: readonly Role[] = ['admin', 'support', 'viewer', 'developer']

/** The groups in a claim: a list of names, or one name; anything else gives none. */
export function groupsOf(claim: unknown): readonly string[] | undefined {
  if (typeof claim === 'string') return [claim]
  if (!Array.isArray(claim)) return undefined
  return claim.filter(one => typeof one === 'string')
}
