import { readFile, stat } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'
import { type Account, runAs } from './programs.ts'

/** The system user that root creates for PostgreSQL alone. */
const ownAccountName = 'enrolment-pg'
/** The system user that root uses when it cannot create one; other programs may run as it too. */
export const sharedAccountName = 'nobody'

/**
 * Chooses the user that runs PostgreSQL, which refuses to run as root. An ordinary user runs it itself. Root runs
 * it as the owner of the data, else as a system user of its own, created if the system allows that, else as
 * `nobody`. Throws `EmbeddedPostgresError` when the data belongs to a user that this process cannot become.
 */
export async function chooseAccount(clusterDirectory: string): Promise<Account> {
  const owner = await stat(clusterDirectory).catch(() => undefined)
  const ourId = process.getuid?.()
  if (ourId === 0)
    return owner && owner.uid !== 0
      ? { uid: owner.uid, gid: owner.gid, name: (await nameOfUser(owner.uid)) ?? String(owner.uid) }
      : ((await ownAccount()) ?? sharedAccount())
  if (owner && owner.uid !== ourId)
    throw new EmbeddedPostgresError(
      `The database in ${clusterDirectory} belongs to the user with the id ${owner.uid}: run the command as that user or as root, or choose another directory with --data.`,
    )
  refuseNamelessUser()
  return undefined
}

/** The name of a user of this system; `undefined` when /etc/passwd does not list the user. */
export async function nameOfUser(uid: number): Promise<string | undefined> {
  const ours = userInfoOrNone()
  if (ours?.uid === uid) return ours.username
  return (await listUsers()).find(user => user.uid === uid)?.name
}

async function ownAccount(): Promise<Account> {
  if (process.platform !== 'linux') return undefined
  const found = await findUser(ownAccountName)
  if (found) return found
  const wanted = ['--system', '--user-group', '--no-create-home', '--home-dir', '/nonexistent']
  const command = { program: 'useradd', cwd: '/', args: [...wanted, '--shell', '/usr/sbin/nologin'] }
  await runAs(undefined, { ...command, args: [...command.args, ownAccountName] })
  // The user is looked up whatever `useradd` answered: another process may have created it at the same time.
  return findUser(ownAccountName)
}

async function sharedAccount(): Promise<Account> {
  // macOS gives `nobody` this id.
  if (process.platform === 'darwin') return { uid: 4294967294, gid: 4294967294, name: sharedAccountName }
  const found = await findUser(sharedAccountName)
  if (!found)
    throw new EmbeddedPostgresError(
      `PostgreSQL cannot run as root, and this system has no user "${sharedAccountName}" and "${ownAccountName}" cannot be created: run the command as an ordinary user, or set DATABASE_URL.`,
    )
  return found
}

async function findUser(name: string): Promise<Account> {
  return (await listUsers()).find(user => user.name === name && user.uid !== 0)
}

async function listUsers(): Promise<{ uid: number; gid: number; name: string }[]> {
  const lines = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n')
  return lines.flatMap(line => {
    const [name = '', , uid, gid] = line.split(':')
    return uid && gid ? [{ uid: Number(uid), gid: Number(gid), name }] : []
  })
}

function userInfoOrNone(): { uid: number; username: string } | undefined {
  try {
    return userInfo()
  } catch {
    return undefined
  }
}

function refuseNamelessUser(): void {
  if (!userInfoOrNone())
    throw new EmbeddedPostgresError(
      `PostgreSQL needs a user with a name, and the user id ${process.getuid?.()} has none in /etc/passwd: add one, or set DATABASE_URL.`,
    )
}
