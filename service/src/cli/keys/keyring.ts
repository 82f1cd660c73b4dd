import { type Command, type Input, UsageError } from '@benefit-enrolment/command'
import { OperatorError } from '../../operator-error.ts'
import { readKeyringFile } from '../../vault/keyring.ts'
import type { KeyKind } from '../../vault/keyring-file.ts'
import { inWorkspace, type Workspace } from '../workspace.ts'
import { nameOfKind, retireKey, rewrapAll, rotateKeys } from './key-rotation.ts'
import { countKeysInUse, describeUse, isInUse, type UseOfKey } from './keys-in-use.ts'

/** `next` will follow the current key; `missing`: rows name the key, and the keyring does not have it. */
type State = 'current' | 'next' | 'old' | 'other' | 'missing'
type Shown = { id: string; kind: 'root' | 'pepper'; state: State; replacedat?: string; inuse: UseOfKey }

const kinds = ['rootKeys', 'peppers'] as const

/** Keys are changed beside a stopped service, too. */
const startsIt = { starts: true }

/** The keys of a workspace in the order of the file or of the setting. */
function keysOf(workspace: Workspace, kind: KeyKind): Omit<Shown, 'inuse'>[] {
  const name = nameOfKind[kind]
  const { current, byId } = workspace.keyring[kind]
  if (workspace.config.rootKey !== undefined)
    return [...byId.keys()].map(id => ({ id, kind: name, state: id === current.id ? 'current' : 'other' }))
  const list = readKeyringFile(workspace.dataDir)[kind]
  return list.keys.map(({ id, replacedAt }) => ({
    id,
    kind: name,
    state: id === list.current ? 'current' : id === list.next ? 'next' : 'old',
    ...(replacedAt === undefined ? {} : { replacedat: new Date(replacedAt).toISOString() }),
  }))
}

async function shownKeys(workspace: Workspace): Promise<Shown[]> {
  const inUse = await countKeysInUse(workspace.database, workspace)
  return kinds.flatMap(kind => {
    const held = keysOf(workspace, kind)
    const missing = inUse.named
      .filter(one => one.kind === kind && !held.some(key => key.id === one.id))
      .map(({ id }) => ({ id, kind: nameOfKind[kind], state: 'missing' as const }))
    return [...held, ...missing].map(key => ({ ...key, inuse: inUse.of(kind, key.id) }))
  })
}

function lineOf({ id, kind, state, inuse }: Shown): string {
  const advice =
    state === 'old' && !isInUse(inuse)
      ? ' (can be retired)'
      : state === 'missing'
        ? ' (not in the keyring)'
        : ''
  return `${kind.padEnd(8)}${id}  ${state.padEnd(9)}in use by: ${describeUse(inuse)}${advice}`
}

const show: Command = {
  name: 'keyring show',
  summary: 'List the root keys and peppers by their ids, and how much data still depends on each.',
  run: input =>
    inWorkspace(
      input,
      async workspace => {
        const keys = await shownKeys(workspace)
        const source = workspace.config.rootKey === undefined ? 'file' : 'environment'
        input.print({ source, keys }, keys.map(lineOf))
      },
      startsIt,
    ),
}

function requireFile({ config }: Workspace, instead: string): void {
  if (config.rootKey !== undefined)
    throw new OperatorError(
      `The keys come from ENROLMENT_ROOT_KEY, and no command can change that: ${instead}`,
    )
}

function wantedKinds(input: Input): readonly KeyKind[] {
  const [word] = input.positionals
  if (word === undefined) return kinds
  const found = kinds.filter(kind => nameOfKind[kind] === word)
  if (found.length === 0)
    throw new UsageError('`enrolment keyring rotate` takes root or pepper, or neither for both; see --help.')
  return found
}

const rotate: Command = {
  name: 'keyring rotate',
  arguments: ['[root|pepper]'],
  summary:
    'Make a new root key, pepper or both, and use it from now on without a gap; older data stays readable.',
  run: input => {
    const wanted = wantedKinds(input)
    return inWorkspace(
      input,
      async workspace => {
        requireFile(
          workspace,
          'put a new key behind it after a comma and restart every process, then put the new one first and restart again, then run `enrolment keyring rewrap`.',
        )
        const rotated = await rotateKeys(workspace, wanted)
        const rewrapped = wanted.includes('rootKeys') ? await rewrapAll(workspace) : 0
        const answer = rotated.map(({ kind, id, replaced }) => ({ kind: nameOfKind[kind], id, replaced }))
        input.print({ rotated: answer, rewrapped }, [
          ...answer.map(
            ({ kind, id, replaced }) => `${kind.padEnd(8)}${id} is current in place of ${replaced}`,
          ),
          '',
          'Back the keyring up now: what is new from here on is lost without the new keys.',
          'Retire the old ones with `enrolment keyring retire KEYID` when nothing depends on them any more.',
        ])
      },
      startsIt,
    )
  },
}

const rewrap: Command = {
  name: 'keyring rewrap',
  summary: 'Rewrap with the current root key what older ones wrap; `rotate` does so itself.',
  run: input =>
    inWorkspace(
      input,
      async workspace => {
        const rewrapped = await rewrapAll(workspace)
        const { id } = workspace.keyring.rootKeys.current
        input.print({ current: id, rewrapped }, [`Nothing depends on another root key than ${id} any more.`])
      },
      startsIt,
    ),
}

const retire: Command = {
  name: 'keyring retire',
  arguments: ['KEYID'],
  summary: 'Remove an old key from the keyring forever; refused while any data depends on it.',
  run: input =>
    inWorkspace(
      input,
      async workspace => {
        requireFile(
          workspace,
          'take the old key out of it and restart every process once `enrolment keyring show` says that nothing depends on it.',
        )
        const [id = ''] = input.positionals
        const kind = nameOfKind[await retireKey(workspace, id)]
        input.print({ kind, id, retired: true }, [
          `The ${kind === 'root' ? 'root key' : kind} ${id} is retired: running processes forget it within a second.`,
        ])
      },
      startsIt,
    ),
}

/** The commands about root keys and peppers. */
export const keyringCommands: readonly Command[] = [show, rotate, rewrap, retire]
