// The names of the contract without its schemas. They need no library, so programs that start often, such as commands,
// load faster.
export * from './cancel-reasons.ts'
export * from './errors.ts'
export * from './event-names.ts'
export * from './oauth-errors.ts'
export * from './scopes.ts'
export * from './states.ts'
