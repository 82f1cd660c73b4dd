/**
 * How a test opens its own database: a connection is waited for, and a statement runs, for as long as a busy machine takes.
 * What is out of reach says so at once all the same, and so does a lock that others hold.
 */
export const patientDatabase = { onError: () => {}, connectTimeoutMs: 60_000, statementTimeoutMs: 100_000 }
