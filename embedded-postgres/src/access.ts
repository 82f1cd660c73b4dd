/** Who may open sessions: PostgreSQL asks the kernel which system user is at the other end of its socket. */
import { open, rename, rm, stat } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { nameOfUser } from './account.ts'
import { type Cluster, pathForPostgres } from './cluster.ts'
import { applicationName } from './database.ts'

/**
 * Writes the files that list who may open a session: the user that runs the service, the owner of the data
 * directory, and root. Rejects when the files cannot be written.
 */
export async function writeAccessFiles(cluster: Cluster): Promise<void> {
  await writeFor(cluster, accessFile, [
    `local all all peer map=${applicationName}`,
    `local replication all peer map=${applicationName}`,
  ])
  const users = await usersWithAccess(cluster)
  await writeFor(
    cluster,
    mapFile,
    users.flatMap(user => [
      `${applicationName} "${user}" postgres`,
      `${applicationName} "${user}" ${applicationName}`,
    ]),
  )
}

/** The settings that make PostgreSQL read these files instead of any in its own directory. */
export function accessSettings(cluster: Cluster): Record<string, string> {
  const directory = pathForPostgres(cluster.directory)
  return { hba_file: join(directory, accessFile), ident_file: join(directory, mapFile) }
}

const accessFile = 'enrolment_hba.conf'
const mapFile = 'enrolment_ident.conf'

/** The users with access. PostgreSQL's own account is not added, because other programs may run as `nobody`. */
async function usersWithAccess(cluster: Cluster): Promise<string[]> {
  const owner = await stat(cluster.dataDir)
  // Root has access because it could become any of the others anyway.
  const names = [userInfo().username, await nameOfUser(owner.uid), await nameOfUser(0)]
  return [...new Set(names)].filter(name => name !== undefined).filter(name => /^[\w.@$-]+$/.test(name))
}

/** Replaces a file by a new one, so that a link which the account put there is never followed. */
async function writeFor(cluster: Cluster, name: string, lines: readonly string[]): Promise<void> {
  const path = join(cluster.directory, name)
  const unfinished = `${path}.new`
  await rm(unfinished, { force: true })
  const file = await open(unfinished, 'wx', 0o600)
  try {
    await file.writeFile(`# Written by the service at each start.\n${lines.join('\n')}\n`)
    if (cluster.account) await file.chown(cluster.account.uid, cluster.account.gid)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(unfinished, path)
}
