/** Says why PostgreSQL cannot run here and what to do about it, in words for the person who started the program. */
export class EmbeddedPostgresError extends Error {
  override name = 'EmbeddedPostgresError'
}
