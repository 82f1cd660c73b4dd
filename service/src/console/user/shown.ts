import type { ConsentRecord } from '../../membership/records/consents.ts'
import type { OpenLine } from '../../membership/records/insurer-lines.ts'
import type { RefusedCreate } from '../../membership/saving/refused-creates.ts'
import type { WaitingRequest } from '../requests/store.ts'
import type { LinkRow, SeenRow } from '../user-data/store.ts'
import type { UserDetails } from '../user-data/user-details.ts'

/** The content of a user's page. */
export type Shown = {
  readonly details: UserDetails
  readonly links: readonly LinkRow[]
  readonly consents: readonly ConsentRecord[]
  readonly seen: readonly SeenRow[]
  /** What insurers were told, newest first. */
  readonly insurerLines: readonly OpenLine[]
  /** What waits for a second person; empty for who may not see requests. */
  readonly waiting: readonly WaitingRequest[]
  /** The attempts to enroll the person that were refused, oldest first. */
  readonly refused: readonly RefusedCreate[]
  /** Whether the operator has given a reason to see the person's data. */
  readonly isPersonShown: boolean
}
