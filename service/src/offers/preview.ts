import type { Instant } from '../calendar/calendar.ts'
import type { User } from '../membership/rules/state.ts'
import type { Partner } from '../partners/partner.ts'
import { keyedHash, sameHash } from '../vault/hash.ts'
import type { OfferChange, OfferChangeInput } from './change.ts'

const validMs = 15 * 60_000

/** What a preview shows, and when in real time: a sandbox's clock makes none older. */
type Previewed = { partner: Partner; user: User; input: OfferChangeInput; changed: OfferChange; now: Instant }

/**
 * Names a preview by a keyed hash of what it showed, so that nothing needs to be kept: the change holds as long as it
 * would do the same.
 */
export function makePreview(previewed: Previewed): { previewid: string; expiresAt: Instant } {
  const expiresAt = previewed.now + validMs
  return { previewid: nameOf(previewed, expiresAt).toString('base64url'), expiresAt }
}

/** Whether a change is what its preview showed, and the preview is not older than 15 minutes. */
export function checkPreview(previewid: string, previewed: Previewed): boolean {
  const sent = Buffer.from(previewid, 'base64url')
  if (sent.length !== nameBytes || sent.toString('base64url') !== previewid) return false
  const expiresAt = Number(sent.readBigUInt64BE(0))
  // Beyond what was ever given out, it is not one of ours, nor a number that could be written back.
  return (
    expiresAt > previewed.now &&
    expiresAt <= previewed.now + validMs &&
    sameHash(sent, nameOf(previewed, expiresAt))
  )
}

const nameBytes = 8 + 32

function nameOf({ partner, user, input, changed }: Previewed, expiresAt: Instant): Buffer {
  const expiry = Buffer.alloc(8)
  expiry.writeBigUInt64BE(BigInt(expiresAt))
  const shown = JSON.stringify([
    input.offername,
    changed.direction,
    changed.isImmediate,
    // An immediate change takes effect whenever it is asked for; a later one at its boundary.
    changed.isImmediate ? '' : changed.effectiveAt,
    [...changed.gained].sort(),
    [...changed.lost].sort(),
    [...changed.kept].sort(),
    user.offer?.name,
  ])
  return Buffer.concat([
    expiry,
    keyedHash(partner.hashKey, 'offers.preview', user.partnerId, user.serviceId, expiry, shown),
  ])
}
