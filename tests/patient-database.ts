/**
 * How a test opens its own database: connecting may take, and a statement may run, as long as a busy machine needs. An
 * unreachable database, and a lock held by others, are still reported at once.
 */
export const patientDatabase = { onError: () => {}, connectTimeoutMs: 60_000, statementTimeoutMs: 100_000 }
