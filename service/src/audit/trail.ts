/**
 * The audit trail: who did what, to whom, and with what result. This folder collects the entries, writes them, and signs
 * blocks of them.
 */
import { createHmac } from 'node:crypto'
import ipaddr from 'ipaddr.js'
import { type Instant, MINUTE_MS } from '../calendar/calendar.ts'
import { groupsByCell } from '../db/by-cell.ts'
import type { Database, Executor } from '../db/database.ts'
import { isUnavailable } from '../db/failure.ts'
import type { Keyring } from '../vault/keyring.ts'
import { uuidv7 } from '../vault/uuid.ts'
import { type AuditEntry, addEntries, noPartner } from './entries.ts'

/** What callers state about an act; its id, time and source are added here. */
type Act = Pick<AuditEntry, 'partnerId' | 'actorKind' | 'actor' | 'action' | 'result'> &
  Partial<Pick<AuditEntry, 'serviceId' | 'requestId'>> & { readonly address?: string | undefined }

/** Collects audit entries in memory and writes them in batches, so that requests do not wait for them. */
export type Trail = {
  /**
   * Records an act, which is written about a second later. While too many wait, further ones are dropped and counted as
   * lost.
   */
  note(act: Act): void
  /** Counts a refused authentication: one entry for each credential, network and minute. */
  noteRefusal(refusal: { partnerId: string | undefined; credentialId: string; address: string }): void
  /** The keyed hash of an address's network, for an entry that is written together with what it records. */
  sourceOf(address: string): Buffer
  /** Writes the entries that wait, and stops. */
  close(): Promise<void>
}

/** The parts of a partner's request that the entry of a read contains. */
type ReadingRequest = {
  readonly caller: { readonly partner: { readonly partnerId: string }; readonly credentialId: string }
  readonly address: () => string
  readonly requestId: string
}

/** Records that an operation showed a partner personal data; `serviceId` names the user if it was the data of one. */
export function noteRead(
  trail: Pick<Trail, 'note'>,
  action: string,
  { caller, address, requestId }: ReadingRequest,
  serviceId: string | undefined,
): void {
  trail.note({
    partnerId: caller.partner.partnerId,
    actorKind: 'credential',
    actor: caller.credentialId,
    action,
    result: 'shown',
    address: address(),
    requestId,
    ...(serviceId === undefined ? {} : { serviceId }),
  })
}

const PAUSE_MS = 1000
const MOST_OF_A_BATCH = 1000
/**
 * The most entries kept in memory while the database is away; entries beyond it are dropped, and the log says how
 * many.
 */
const MOST_KEPT = 50_000
/** Guessed credentials must not fill the table, so after this many names in a minute all others share one entry. */
const MOST_REFUSALS_A_MINUTE = 1000
/**
 * An entry written later than this gets a new time (`inTime`): its block is signed two minutes after its time, and the
 * clocks of two processes may differ by half a minute.
 */
const LATE_MS = 90_000

/**
 * Opens the trail. Noting an act costs a request no more than a push to an array; in return, a crash loses the
 * entries of about the last second.
 */
export function openTrail(context: {
  database: Database
  keyring: Keyring
  real: () => Instant
  onError: (error: unknown, lost: number) => void
}): Trail {
  const { database, keyring, real } = context
  let entries: AuditEntry[] = []
  let refusals = new Map<string, AuditEntry>()
  let minute = 0
  let named = new Set<string>()
  let lost = 0
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  let writing: Promise<void> = Promise.resolve()

  /** Whether no cell of a cluster could take an entry: anybody can send a secret that names a partner who is not there. */
  const isNowhere = ({ partnerId }: AuditEntry) => database.cellOf(partnerId) === partnerId
  const write = async (): Promise<void> => {
    const refused = [...refusals.values()].map(one =>
      isNowhere(one) ? { ...one, partnerId: noPartner } : one,
    )
    const batch = oncePerId([...entries, ...refused].map(entry => inTime(entry, real())))
    entries = []
    refusals = new Map()
    // A cell that is away keeps its own entries here, and nobody else's.
    for (const group of groupsByCell(database, batch)) await writeOfCell(group)
    if (!isClosed && entries.length > 0) wake()
  }
  const writeOfCell = async (batch: readonly [AuditEntry, ...AuditEntry[]]): Promise<void> => {
    const cell = database.of(batch[0].partnerId)
    for (let start = 0; start < batch.length; start += MOST_OF_A_BATCH) {
      const portion = batch.slice(start, start + MOST_OF_A_BATCH)
      try {
        await addEntries(cell, portion)
      } catch (error) {
        if (!isUnavailable(error)) {
          lost += await addEach(cell, portion)
          context.onError(error, lost)
          continue
        }
        const rest = batch.slice(start)
        const room = Math.max(0, MOST_KEPT - entries.length)
        entries = [...rest.slice(0, room), ...entries]
        lost += Math.max(0, rest.length - room)
        context.onError(error, lost)
        return
      }
    }
  }
  const wake = () => {
    if (isClosed) return
    timer ??= setTimeout(() => {
      timer = undefined
      writing = write()
    }, PAUSE_MS)
  }

  return {
    note({ address, ...act }) {
      if (entries.length >= MOST_KEPT) {
        lost += 1
        return
      }
      const at = real()
      const source = address === undefined ? undefined : sourceOf(keyring, address)
      entries.push({ ...act, entryId: uuidv7(at), at, source, times: 1 })
      wake()
    },
    noteRefusal(refusal) {
      const at = Math.floor(real() / MINUTE_MS) * MINUTE_MS
      if (at !== minute) named = new Set()
      minute = at
      const source = sourceOf(keyring, refusal.address)
      const own = `${refusal.partnerId ?? ''} ${refusal.credentialId} ${source.toString('base64')}`
      const isOne = named.has(own) || named.size < MOST_REFUSALS_A_MINUTE
      if (isOne) named.add(own)
      const name = isOne ? own : 'others'
      const known = refusals.get(name)
      refusals.set(name, {
        partnerId: isOne ? (refusal.partnerId ?? noPartner) : noPartner,
        entryId: idOf(keyring, at, name),
        at,
        actorKind: isOne && refusal.credentialId !== '' ? 'credential' : 'nobody',
        actor: isOne ? refusal.credentialId : '',
        ...(isOne ? { source } : {}),
        action: 'authenticate',
        result: 'refused',
        times: (known?.times ?? 0) + 1,
      })
      wake()
    },
    sourceOf: address => sourceOf(keyring, address),
    async close() {
      isClosed = true
      clearTimeout(timer)
      await writing
      await write()
    },
  }
}

/** Adds entries one by one, so that one that the database refuses holds up no other; returns how many it refused. */
async function addEach(cell: Executor, entries: readonly AuditEntry[]): Promise<number> {
  let refused = 0
  for (const entry of entries)
    await addEntries(cell, [entry]).catch(() => {
      refused += 1
    })
  return refused
}

/**
 * The same entries, each id once with the sum of its counts, because one statement cannot add to a row twice. An id comes
 * twice when entries could not be written and the same credential was refused again in the same minute.
 */
function oncePerId(entries: readonly AuditEntry[]): AuditEntry[] {
  const byId = new Map<string, AuditEntry>()
  for (const entry of entries) {
    const known = byId.get(entry.entryId)
    byId.set(entry.entryId, known ? { ...entry, times: known.times + entry.times } : entry)
  }
  return [...byId.values()]
}

/**
 * The entry with the time at which it is written, if that is so late that the block of its own time may be signed already:
 * there it would look forged.
 */
function inTime(entry: AuditEntry, now: Instant): AuditEntry {
  return entry.at > now - LATE_MS ? entry : { ...entry, at: now, entryId: uuidv7(now) }
}

/**
 * The id of an entry that counts: the same in every process for the same name and minute, so that their counts add
 * up.
 */
function idOf(keyring: Keyring, at: Instant, name: string): string {
  const digits = createHmac('sha256', keyring.peppers.current.key).update(`${at} ${name}`).digest('hex')
  const time = at.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${digits.slice(0, 3)}-8${digits.slice(3, 6)}-${digits.slice(6, 18)}`
}

/**
 * The keyed hash of an address's network (IPv4 /24 or IPv6 /48): it shows that two calls came from one network, and
 * hides the address.
 */
function sourceOf({ peppers }: Keyring, address: string): Buffer {
  const hash = createHmac('sha256', peppers.current.key).update(`audit source ${networkOf(address)}`)
  return hash.digest().subarray(0, 16)
}

function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  const bytes = parsed.toByteArray()
  return bytes.slice(0, bytes.length === 4 ? 3 : 6).join('.')
}
