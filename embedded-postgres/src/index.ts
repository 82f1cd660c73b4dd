// A real PostgreSQL for programs that bring their own: a service owns a data directory, and commands use the PostgreSQL that
// it runs there.
export { backUpDatabase, type Manifest } from './backup.ts'
export { holdsDatabase } from './cluster.ts'
export { createDatabase, dropDatabase, type SocketAddress } from './database.ts'
export { EmbeddedPostgresError } from './embedded-postgres-error.ts'
export { type OwnedDatabase, ownEmbeddedDatabase } from './own.ts'
export { restoreDatabase } from './restore.ts'
export { findRunningDatabase, withDatabase } from './running.ts'
