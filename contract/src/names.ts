// The names of the contract without its schemas: they need no library, so that what starts often need not load one.
export * from './errors.ts'
export * from './event-names.ts'
export * from './oauth-errors.ts'
export * from './scopes.ts'
export * from './states.ts'
