import type { Instant } from '../calendar/calendar.ts'
import type { User } from '../membership/rules/state.ts'
import type { Partner } from '../partners/partner.ts'
import { keyedHash, sameHash } from '../vault/hash.ts'
import type { OfferChange, OfferChangeInput } from './change.ts'

const VALID_MS = 15 * 60_000

/** The content of a preview, and when it was made in real time; moving a sandbox's clock does not age it. */
type Previewed = { partner: Partner; user: User; input: OfferChangeInput; changed: OfferChange; now: Instant }

/**
 * The id of a preview: a keyed hash of what it showed, so that nothing must be stored. The id stays valid as long as
 * the change would have the same effect.
 */
export function makePreview(previewed: Previewed): { previewid: string; expiresAt: Instant } {
  const expiresAt = previewed.now + VALID_MS
  return { previewid: previewIdOf(previewed, expiresAt).toString('base64url'), expiresAt }
}

/** Whether a change has the effect that its preview showed, and the preview is not older than 15 minutes. */
export function checkPreview(previewid: string, previewed: Previewed): boolean {
  const sent = Buffer.from(previewid, 'base64url')
  if (sent.length !== NAME_BYTES || sent.toString('base64url') !== previewid) return false
  const expiresAt = Number(sent.readBigUInt64BE(0))
  // The bounds come first: an id that was never issued may hold a number that is too large for `previewIdOf` to write.
  return (
    expiresAt > previewed.now &&
    expiresAt <= previewed.now + VALID_MS &&
    sameHash(sent, previewIdOf(previewed, expiresAt))
  )
}

const NAME_BYTES = 8 + 32

function previewIdOf({ partner, user, input, changed }: Previewed, expiresAt: Instant): Buffer {
  const expiry = Buffer.alloc(8)
  expiry.writeBigUInt64BE(BigInt(expiresAt))
  const shown = JSON.stringify([
    input.offername,
    changed.direction,
    changed.isImmediate,
    // An immediate change takes effect whenever it is requested; a later one at its boundary.
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
