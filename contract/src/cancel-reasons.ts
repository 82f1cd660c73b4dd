/** Why a user is cancelled (contract §7). */
export const cancelReasons = [
  'voluntary',
  'employmentended',
  'nonpayment',
  'deceased',
  'duplicate',
  'mistake',
] as const
export type CancelReason = (typeof cancelReasons)[number]
