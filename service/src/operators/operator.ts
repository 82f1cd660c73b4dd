import type { Instant } from '../calendar/calendar.ts'

/**
 * What somebody may do at the console: `look` at the states, dates and events of people, without any personal data; `support` them, with
 * their data and acts; `administer` partners and endpoints; see an `integration`, of which nothing names a person; send events
 * `again`; `revoke` credentials; `rotate` those of the own partner.
 */
export type Right = 'look' | 'support' | 'administer' | 'integration' | 'again' | 'revoke' | 'rotate'

/** All roles with their rights. A developer is an engineer of one partner. */
const RIGHTS = {
  viewer: ['integration', 'look'],
  support: ['integration', 'look', 'support', 'again'],
  admin: ['integration', 'look', 'support', 'again', 'administer', 'revoke'],
  developer: ['integration', 'again', 'revoke', 'rotate'],
} as const satisfies Readonly<Record<string, readonly Right[]>>
/** One of the roles. */
export type Role = keyof typeof RIGHTS
/** Their names. */
export const ROLES = Object.keys(RIGHTS) as readonly Role[]

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

/** Whether the operator's role has a right. */
export function hasRight({ role }: Pick<Operator, 'role'>, right: Right): boolean {
  return (RIGHTS[role] as readonly Right[]).includes(right)
}

/** The first role that has a right, for those who are refused. */
export function roleWith(right: Right): string {
  return ROLES.find(role => hasRight({ role }, right)) ?? 'admin'
}

/** Whether the operator may see anything of a partner. */
export function worksFor({ partners }: Pick<Operator, 'partners'>, partnerId: string): boolean {
  return partners === undefined || partners.includes(partnerId)
}
