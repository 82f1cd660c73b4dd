import { setTimeout as sleep } from 'node:timers/promises'
import type { Executor } from '../../db/database.ts'
import { failureOf } from '../../db/failure.ts'
import { markAnew } from '../../installation.ts'
import { OperatorError } from '../../operator-error.ts'
import { lockKeysForRotation, rewrapPartnerKeys } from '../../partners/key-use.ts'
import { readKeyringFile, replaceKeyringFile } from '../../vault/keyring.ts'
import {
  type KeyKind,
  type KeyList,
  type KeyringFile,
  withCurrent,
  withNext,
  withoutOld,
} from '../../vault/keyring-file.ts'
import { newKey } from '../../vault/seal.ts'
import type { Workspace } from '../workspace.ts'
import { countKeysInUse, describeUse, isInUse } from './keys-in-use.ts'

/** How long each step of a rotation waits for the running processes, which check the file five times a second. */
const TAKEN_UP_MS = 1000
/** How long a request may last that began while a key was current. */
const LAST_USED_MS = 15_000

/** A key that became current, and the key that it replaced. */
export type Rotated = { readonly kind: KeyKind; readonly id: string; readonly replaced: string }

/**
 * Gives each of these kinds a new current key: first every process can read with it, then it becomes current. If
 * interrupted at any point, it leaves keys that work, and the next call continues from there. Throws OperatorError when
 * the keyring cannot be changed.
 */
export async function rotateKeys(workspace: Workspace, kinds: readonly KeyKind[]): Promise<Rotated[]> {
  const added = await changeKeyring(workspace, file =>
    changeLists(file, kinds, list => withNext(list, newKey())),
  )
  await sleep(TAKEN_UP_MS)
  const at = workspace.real()
  await changeKeyring(workspace, file =>
    changeLists(file, kinds, (list, kind) => withCurrent(list, added[kind].next ?? '', at)),
  )
  // From now on every process wraps with the new key, so that the rewrap after this misses nothing.
  await sleep(TAKEN_UP_MS)
  return kinds.map(kind => ({ kind, id: added[kind].next ?? '', replaced: added[kind].current }))
}

/**
 * Rewraps with the current root key everything that older ones wrap, and puts the command on record in the same
 * transaction; returns how many partners' keys.
 */
export function rewrapAll(workspace: Workspace): Promise<number> {
  return withKeysLocked(workspace, async tx => {
    const count = await rewrapPartnerKeys(tx, workspace.keyring)
    await markAnew(tx, workspace.keyring)
    await tx.query(workspace.alongside())
    return count
  })
}

/**
 * Removes an older key from the keyring forever. Throws OperatorError when there is no such key, when it is current or
 * about to be, and when anything depends on it.
 */
export async function retireKey(workspace: Workspace, id: string): Promise<KeyKind> {
  const file = readKeyringFile(workspace.dataDir)
  const kind = (['rootKeys', 'peppers'] as const).find(one => file[one].keys.some(key => key.id === id))
  if (kind === undefined)
    throw new OperatorError(`There is no key ${id} in the keyring: see \`enrolment keyring show\`.`)
  if (!withoutOld(file[kind], id)) throw new OperatorError(notOld(file, kind, id))
  const refuseIfUsed = async () => {
    const use = (await countKeysInUse(workspace.database, workspace)).of(kind, id)
    if (isInUse(use)) throw new OperatorError(stillUsed(kind, id, describeUse(use)))
  }
  await refuseIfUsed()
  const replacedAt = file[kind].keys.find(key => key.id === id)?.replacedAt ?? 0
  await sleep(Math.min(LAST_USED_MS, Math.max(0, replacedAt + LAST_USED_MS - workspace.real())))
  await changeKeyring(workspace, async found => {
    // Checked again while a transaction keeps all others from storing data under a key.
    await refuseIfUsed()
    return changeLists(found, [kind], list => withoutOld(list, id))
  })
  return kind
}

function changeKeyring(
  workspace: Workspace,
  change: (file: KeyringFile, tx: Executor) => KeyringFile | Promise<KeyringFile>,
): Promise<KeyringFile> {
  return withKeysLocked(workspace, async tx => {
    const changed = await change(readKeyringFile(workspace.dataDir), tx)
    // No transaction includes the file, so the audit log says beforehand that the file is about to change.
    await workspace.begin()
    replaceKeyringFile(workspace.dataDir, changed)
    return changed
  })
}

/**
 * Runs work while no other command changes keys, and nobody stores data under one. A lock of a dead command does not
 * count.
 */
async function withKeysLocked<T>({ database }: Workspace, work: (tx: Executor) => Promise<T>): Promise<T> {
  try {
    return await database.transaction(async tx => {
      if (await lockKeysForRotation(tx)) return work(tx)
      throw new OperatorError(
        'This database has never been served, so it has no keys yet: run `enrolment serve` or `enrolment dev` first.',
      )
    })
  } catch (error) {
    if (!failureOf(error).lockTimedOut) throw error
    throw new OperatorError('Another command works on the keys: run this one again when that one has ended.')
  }
}

function changeLists(
  file: KeyringFile,
  kinds: readonly KeyKind[],
  change: (list: KeyList, kind: KeyKind) => KeyList | undefined,
): KeyringFile {
  const changed = (kind: KeyKind): KeyList => {
    const list = kinds.includes(kind) ? change(file[kind], kind) : file[kind]
    if (list) return list
    throw new OperatorError(
      'Another command has changed the keyring meanwhile: see `enrolment keyring show`.',
    )
  }
  return { rootKeys: changed('rootKeys'), peppers: changed('peppers') }
}

function notOld(file: KeyringFile, kind: KeyKind, id: string): string {
  return id === file[kind].current
    ? `The key ${id} is the current one: run \`enrolment keyring rotate ${nameOfKind[kind]}\` first.`
    : `The key ${id} is about to become current: run \`enrolment keyring rotate ${nameOfKind[kind]}\` to its end.`
}

function stillUsed(kind: KeyKind, id: string, use: string): string {
  return kind === 'rootKeys'
    ? `The root key ${id} is in use (${use}): run \`enrolment keyring rewrap\`, then this again.`
    : `The pepper ${id} is in use (${use}): \`enrolment keyring show\` tells when nothing depends on it any more.`
}

/** The operator's names for the kinds. */
export const nameOfKind = { rootKeys: 'root', peppers: 'pepper' } as const satisfies Record<KeyKind, string>
