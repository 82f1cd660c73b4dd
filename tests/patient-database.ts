/**
 * How a test opens its own database: a connection is waited for as long as a busy machine takes. What is out of reach says so
 * at once all the same.
 */
export const patientDatabase = { onError: () => {}, connectTimeoutMs: 60_000 }
