/** The groups of operations, and what each is for. */
export const tags = {
  Authentication: 'Access tokens for your client id and secret.',
  Users: 'What becomes of one user: prefill, create, update, cancel, reinstate, erase.',
  Benefits: 'The benefits open to a user with their status, and single benefits: enroll, decline, swap.',
  Offers: 'The package a user is on: upgrade and downgrade, with a preview.',
  Webhooks: 'The addresses to which events are sent.',
  Events: 'The log of all events of your users, and how each was delivered.',
  Statements: 'What each month comes to: what to deduct from whom, and what you pay.',
  'Link tokens': 'The registration page for one user, as a link or inside your product.',
  Sandbox: 'What only a sandbox has: a clock to move.',
  System: 'Health, the description of the interface, and its change log.',
} as const

/** The name of a group of operations. */
export type Tag = keyof typeof tags
