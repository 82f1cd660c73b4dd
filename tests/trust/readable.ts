import { randomUUID } from 'node:crypto'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Client } from '../../client/src/index.ts'
import type { Created } from '../command/place.ts'
import { type Place, runJson } from '../command/process.ts'
import { ada } from '../rig.ts'
import type { Entry } from './journal.ts'

/**
 * What the ledger cannot tell from the outside of ciphertext: the newest users are read by the partner's credentials,
 * everything that is sealed of every user is opened, and the signed record is verified.
 */
export async function checkReadable(
  client: Client,
  { place, partner, entries }: { place: Place; partner: Created; entries: readonly Entry[] },
): Promise<void> {
  const isErased = new Set(entries.filter(({ kind }) => kind === 'erase').map(({ userid }) => userid))
  const kept = entries.filter(one => one.isAcknowledged && !isErased.has(one.userid))
  for (const { userid } of kept.slice(-5)) expect(await client.getUser({ userid })).toMatchObject({ userid })
  const file = join(place.cwd ?? '', `${randomUUID()}.jsonl`)
  await runJson(['partner', 'export', partner.partnerid, file, '--reason', 'is everything there'], place)
  const readable = new Set<string>()
  for await (const line of (await open(file)).readLines()) {
    const { user, documents } = JSON.parse(line) as { user?: { userid: string }; documents?: object }
    if (user && JSON.stringify(documents).includes(ada.lastname)) readable.add(user.userid)
  }
  expect(kept.filter(({ userid }) => !readable.has(userid))).toEqual([])
  expect(await runJson(['audit', 'verify'], place)).toMatchObject({ ok: true })
}
