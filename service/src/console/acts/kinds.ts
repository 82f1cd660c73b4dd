import type { RequestKind } from '../requests/request.ts'
import { dateAndLinkRequest } from './date-and-link.ts'
import { erasureRequest } from './erase.ts'
import { credentialsRequest } from './new-credentials.ts'
import { actRequests } from './request-kinds.ts'

/** All kinds of requests to a second person; each is defined beside its action. */
export const requestKinds: readonly RequestKind[] = [
  ...actRequests,
  erasureRequest,
  dateAndLinkRequest,
  credentialsRequest,
]
