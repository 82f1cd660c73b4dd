import type { Instant } from '../calendar/calendar.ts'

/** The roles of those who operate the service; each includes the rights of the one before it. */
const RANKS = ['viewer', 'support', 'admin'] as const
/** All roles. A developer is an engineer of one partner, and has none of the rights of the others, nor they those of a developer. */
export const ROLES = [...RANKS, 'developer'] as const
/** One of the roles. */
export type Role = (typeof ROLES)[number]

/** A person who works at the console. */
export type Operator = {
  readonly operatorId: string
  readonly name: string
  readonly role: Role
  /** `undefined`: all partners, also those created later. */
  readonly partners: readonly string[] | undefined
  readonly createdAt: Instant
  readonly disabledAt: Instant | undefined
  /** The identity provider of the operator; absent: the operator was created here, by name. */
  readonly issuer?: string | undefined
  /** In lower case, as the identity provider or whoever added the operator gave it. */
  readonly email?: string | undefined
}

/** An email in the form in which two are compared; `undefined` where the text is none. */
export function comparedEmail(text: string): string | undefined {
  const email = text.trim().normalize('NFC').toLowerCase()
  return /^[^\s@]+@[^\s@]+$/.test(email) && email.length <= 254 ? email : undefined
}

/** Whether the operator's role is the wanted one or one above it; none is above or below a developer. */
export function hasRole({ role }: Pick<Operator, 'role'>, wanted: Role): boolean {
  if (role === 'developer' || wanted === 'developer') return role === wanted
  return RANKS.indexOf(role) >= RANKS.indexOf(wanted)
}

/** Whether the operator may see anything of a partner. */
export function worksFor({ partners }: Pick<Operator, 'partners'>, partnerId: string): boolean {
  return partners === undefined || partners.includes(partnerId)
}
