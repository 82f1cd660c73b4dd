import { readFile, stat } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { OperatorError } from '../operator-error.ts'

/** The user and group that PostgreSQL runs as; `undefined` means our own. */
export type Account = { uid: number; gid: number } | undefined

/**
 * Chooses who runs PostgreSQL, which refuses to run as root: we ourselves, and for root the owner of the data or else
 * `nobody`. Refuses with an `OperatorError` when the data belongs to somebody whom we cannot become.
 */
export async function chooseAccount(clusterDirectory: string): Promise<Account> {
  const owner = await stat(clusterDirectory).catch(() => undefined)
  const ourId = process.getuid?.()
  if (ourId === 0) return owner && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : nobody()
  if (owner && owner.uid !== ourId)
    throw new OperatorError(
      `The database in ${clusterDirectory} belongs to the user with the id ${owner.uid}: run the command as that user or as root, or choose another directory with --data.`,
    )
  refuseNamelessUser()
  return undefined
}

async function nobody(): Promise<Account> {
  if (process.platform === 'darwin') return { uid: 4294967294, gid: 4294967294 }
  const users = await readFile('/etc/passwd', 'utf8').catch(() => '')
  const [, , uid, gid] = (users.split('\n').find(line => line.startsWith('nobody:')) ?? '').split(':')
  if (!uid || !gid)
    throw new OperatorError(
      'PostgreSQL cannot run as root and this system has no user "nobody": run the command as an ordinary user, or set DATABASE_URL.',
    )
  return { uid: Number(uid), gid: Number(gid) }
}

function refuseNamelessUser(): void {
  try {
    userInfo()
  } catch {
    throw new OperatorError(
      `PostgreSQL needs a user with a name, and the user id ${process.getuid?.()} has none in /etc/passwd: add one, or set DATABASE_URL.`,
    )
  }
}
