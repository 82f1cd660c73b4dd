import { erasureRequest } from '../acts/erase.ts'
import { actRequests } from '../acts/requests.ts'
import { publishKind } from '../catalogue/publish.ts'
import type { RequestKind } from './request.ts'

/** What can be asked of a second person, each kind beside the act that it belongs to. */
export const requestKinds: readonly RequestKind[] = [...actRequests, erasureRequest, publishKind]
