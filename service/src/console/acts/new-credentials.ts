import { html } from '../../http/html.ts'
import { operatorNames } from '../../operators/store.ts'
import type { RequestKind } from '../requests/request.ts'
import { ALLOWED_HOURS } from '../requests/second-person.ts'

/** What an operator asks for who may not make credentials of a partner alone: both ways must mean the same. */
export const CREDENTIALS_EFFECT = 'new credentials'

/**
 * The request of a partner's developer to make credentials. An admin must allow it, because the API asks for no second person:
 * a secret and a key are enough to act alone.
 */
export const credentialsRequest: RequestKind = {
  action: 'credentials',
  title: 'New credentials of a partner',
  color: 'primary',
  role: 'admin',
  async preview({ context }, { partner, askedBy }) {
    const names = await operatorNames(context.database)
    return {
      shown: html`<p>For ${ALLOWED_HOURS} hours ${
        names.get(askedBy) ?? askedBy
      } may make client secrets and API keys of ${partner.name}.
Whoever holds them reads, changes and erases its users by the API, alone.</p>`,
      effect: CREDENTIALS_EFFECT,
    }
  },
  async perform({ context }, { partner }, decision) {
    await context.database.commit(decision)
    return { to: `/partners/${partner.partnerId}` }
  },
}
