import { certificateScreens } from './acts/erase.ts'
import { exportScreens } from './acts/export.ts'
import { linkScreens } from './acts/link.ts'
import { resendScreens } from './acts/resend.ts'
import { actScreens } from './acts/screens.ts'
import { auditScreens } from './audit/screens.ts'
import { catalogueScreens } from './catalogue/screens.ts'
import { requestScreens } from './decisions/decide.ts'
import { requestListScreens } from './decisions/list.ts'
import { dueScreens } from './due/screens.ts'
import { feedListScreens } from './feeds/list.ts'
import { mendScreens } from './feeds/mend.ts'
import { releaseScreens } from './feeds/release.ts'
import { feedScreens } from './feeds/screens.ts'
import { findScreens } from './find/screens.ts'
import { homeScreens } from './home/screens.ts'
import { partnerScreens } from './partner/screens.ts'
import type { Screen } from './screen/screen.ts'
import { statementScreens } from './statements/screens.ts'
import { retainedScreens } from './user/retained.ts'
import { userScreens } from './user/screens.ts'
import { deliveryScreens, webhookListScreens } from './webhooks/list.ts'
import { webhookScreens } from './webhooks/screens.ts'

/** Every address of the console that needs a session, with the right that it takes. */
export const screens: readonly Screen[] = [
  ...homeScreens,
  ...findScreens,
  ...userScreens,
  ...retainedScreens,
  ...actScreens,
  ...linkScreens,
  ...exportScreens,
  ...certificateScreens,
  ...resendScreens,
  ...dueScreens,
  ...statementScreens,
  ...webhookListScreens,
  ...webhookScreens,
  ...deliveryScreens,
  ...feedListScreens,
  ...feedScreens,
  ...releaseScreens,
  ...mendScreens,
  ...partnerScreens,
  ...catalogueScreens,
  ...requestListScreens,
  ...requestScreens,
  ...auditScreens,
]
