// A real PostgreSQL for programs that bring their own: one process owns a data directory, and others borrow the
// PostgreSQL that runs in it.
export { backUpDatabase, type Manifest } from './backup.ts'
export { type BorrowedDatabase, borrowEmbeddedDatabase } from './borrow.ts'
export { holdsDatabase } from './cluster.ts'
export { createDatabase, dropDatabase, type SocketAddress } from './database.ts'
export { EmbeddedPostgresError } from './embedded-postgres-error.ts'
export { type OwnedDatabase, ownEmbeddedDatabase } from './own.ts'
export { restoreDatabase } from './restore.ts'
