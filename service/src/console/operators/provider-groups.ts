import type { Role } from './operator.ts'
import { ROLES } from './operator.ts'

/** What a group of the identity provider may do at the console. */
export type GroupRights = {
  readonly group: string
  readonly role: Role
  /** `undefined`: all partners, those to come included. */
  readonly partners: readonly string[] | undefined
}

/** What an operator may do, and for whom. */
export type Rights = { readonly role: Role; readonly partners: readonly string[] | undefined }

/**
 * What somebody in these groups may do; `undefined` where none of them has a role. The highest role counts, and with it
 * the partners of those groups alone that give it: who may look at all partners and act for one, acts for that one.
 */
export function rightsOf(mapped: readonly GroupRights[], groups: readonly string[]): Rights | undefined {
  const own = mapped.filter(({ group }) => groups.includes(group))
  const role = ROLES.findLast(one => own.some(given => given.role === one))
  if (role === undefined) return undefined
  const given = own.filter(one => one.role === role)
  const partners = given.flatMap(one => one.partners ?? [])
  return {
    role,
    partners: given.some(one => one.partners === undefined) ? undefined : [...new Set(partners)],
  }
}

/** The groups in a claim: a list of names, or one name; what is neither counts as none. */
export function groupsOf(claim: unknown): readonly string[] | undefined {
  if (typeof claim === 'string') return [claim]
  if (!Array.isArray(claim)) return undefined
  return claim.filter(one => typeof one === 'string')
}
