import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Cluster, removeLeftover, unfinishedPrefix } from './cluster.ts'
import { findPostmaster, stopPostmaster } from './postmaster.ts'
import { removeSocketDirectory } from './socket-directory.ts'

/**
 * Removes the unfinished databases that a kill left in the data directory while they were created or restored; the caller
 * holds the lock, so nobody else works on one. A PostgreSQL that still brings a restored copy up is stopped.
 */
export async function removeLeftovers(cluster: Cluster): Promise<void> {
  for (const name of await readdir(cluster.dataDir)) {
    const directory = join(cluster.dataDir, name)
    // A restore starts PostgreSQL on the copy that it is making.
    if (!name.startsWith(unfinishedPrefix) || directory === cluster.directory) continue
    const orphan = await findPostmaster({ ...cluster, directory })
    if (orphan) {
      await stopPostmaster(orphan)
      await removeSocketDirectory(orphan.socketDirectory, cluster.account)
    }
    await removeLeftover(directory)
  }
}
