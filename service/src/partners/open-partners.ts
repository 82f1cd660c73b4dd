import { describeCause, type Log } from '../log.ts'
import type { Keyring } from '../vault/keyring.ts'
import { partnerOf } from './keys.ts'
import type { Partner } from './partner.ts'
import type { PartnerRow } from './store.ts'

/** The partners of these rows. Those whose keys cannot be opened are left out and logged, so that they hold up no other. */
export function openPartners(rows: readonly PartnerRow[], keyring: Keyring, log: Log): Partner[] {
  const failed: { readonly row: PartnerRow; readonly error: unknown }[] = []
  const opened = rows.flatMap(row => {
    try {
      return [partnerOf(row, keyring)]
    } catch (error) {
      failed.push({ row, error })
      return []
    }
  })
  const [first] = failed
  // One line for all, because with the wrong keys none can be opened.
  if (first)
    log('partner_not_opened', {
      partnerid: first.row.partner_id,
      partners: failed.length,
      ...describeCause(first.error),
    })
  return opened
}
