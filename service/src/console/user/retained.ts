import { html, type Slot } from '../../http/html.ts'
import { listRetained, openRetained, type Retained } from '../../membership/records/retained-rows.ts'
import { reasonedScreens } from '../acts/reasoned.ts'
import { record } from '../screen/record.ts'
import { notHere, type OperatorVisit, type Screen } from '../screen/screen.ts'
import { type ErasedUser, isErased, openUser } from '../user-data/living-user.ts'
import { retainedPart, retainedTable } from './retained-view.ts'

type Keeping = ErasedUser & { readonly kept: readonly Omit<Retained, 'records'>[] }

/** The records that the law makes the operator keep of an erased user; an admin reads them, for a reason. */
export const retainedScreens: readonly Screen[] = reasonedScreens({
  path: '/users/:serviceid/retained',
  role: 'admin',
  kind: 'look',
  title: 'Records kept by law',
  find,
  whom,
  asked: (_visit, { kept, partner }) => ({
    heading: 'What is kept',
    hint: retainedTable(kept, partner.timezone),
    button: 'Show what the person agreed to and held',
    isShut: kept.length === 0,
  }),
  async answer(visit, of, reason) {
    const { partner, serviceId } = of
    const kept = await openRetained(visit.context.database, partner, serviceId)
    await record(visit, { action: 'look at kept records', result: 'shown', partner, serviceId, reason })
    return {
      title: 'Records kept by law',
      body: html`${whom(of)}${kept.map(one => retainedPart(one, partner.timezone))}`,
    }
  },
})

async function find(visit: OperatorVisit): Promise<Keeping> {
  const user = await openUser(visit)
  if (!isErased(user)) throw notHere('erased user')
  return { ...user, kept: await listRetained(visit.context.database, user.partner.partnerId, user.serviceId) }
}

function whom({ partner, serviceId }: ErasedUser): Slot {
  return html`<p class="hint">Erased user <a
href="/users/${serviceId}"><code>${serviceId}</code></a> of ${partner.name}</p>`
}
