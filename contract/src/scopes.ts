/** Every scope of the service and what it allows (contract §3). */
export const scopes = {
  'prefill:write': 'store prefill data',
  'benefits:read': 'list benefits with status',
  'benefits:write': 'swap, enrol in and decline single benefits, change whom they cover',
  'users:read': 'fetch a user, list users',
  'users:write': 'create and update users, set their dependants',
  'users:cancel': 'cancel, reinstate and erase users',
  'offers:write': 'change offers, list and preview changes',
  'linktokens:create': 'create and revoke link tokens, exchange results',
  'events:read': 'read events and delivery attempts',
  'statements:read': 'read monthly statements and their lines',
  'beneficiaries:read': 'read whom members name as beneficiaries; never by default',
  'dependants:read': 'read the dependants of members, and which benefits cover them; never by default',
  'webhooks:write': 'manage webhook endpoints, test, enable, replay',
  'sandbox:control': 'move the clock of a sandbox',
} as const

/** The name of one scope. */
export type Scope = keyof typeof scopes

/** All scope names, in the order of the contract. */
export const scopeNames = Object.keys(scopes) as Scope[]

/**
 * The scopes of a partner for which the operator has set none: all except those about beneficiaries and
 * dependants, who are not users.
 */
export const defaultScopes = scopeNames.filter(name => !/^(beneficiaries|dependants):/.test(name))

/** Whether `text` names a scope. */
export function isScope(text: string): text is Scope {
  return Object.hasOwn(scopes, text)
}

/** The scopes that this kind of service uses: the clock's scope is for sandboxes only. */
export function scopesOf(isSandbox: boolean): Scope[] {
  return scopeNames.filter(name => isSandbox || name !== 'sandbox:control')
}
