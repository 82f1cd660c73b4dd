import { erasureRequest } from '../acts/erase.ts'
import { actRequests } from '../acts/request-kinds.ts'
import type { RequestKind } from '../requests/request.ts'

/** All kinds of requests to a second person; each is defined beside its action. */
export const requestKinds: readonly RequestKind[] = [...actRequests, erasureRequest]
