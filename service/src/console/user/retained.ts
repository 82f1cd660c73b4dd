import { html, type Slot } from '../../http/html.ts'
import { listRetained, openRetained } from '../../membership/records/retained-rows.ts'
import { record } from '../screen/record.ts'
import {
  type Answer,
  notHere,
  type OperatorVisit,
  onGet,
  onPost,
  reasonOf,
  type Screen,
} from '../screen/screen.ts'
import { type ErasedUserDetails, isErased, openUserDetails } from '../user-data/user-details.ts'
import { actionForm, section } from '../views/parts.ts'
import { retainedPart, retainedTable } from './retained-view.ts'

/** The records that the law makes the operator keep of an erased user; an admin reads them, for a reason. */
export const retainedScreens: readonly Screen[] = [
  onGet('/users/:serviceid/retained', 'admin', ask),
  onPost('/users/:serviceid/retained', 'admin', show),
]

async function ask(visit: OperatorVisit): Promise<Answer> {
  const details = await erasedUserDetails(visit)
  const { partner, serviceId } = details
  const kept = await listRetained(visit.context.database, partner.partnerId, serviceId)
  await record(visit, { action: 'look at user', result: 'shown', partner, serviceId })
  return page(details, [
    section('What is kept', retainedTable(kept, partner.timezone)),
    kept.length > 0 &&
      section(
        'Read it',
        actionForm(visit, {
          action: `/users/${serviceId}/retained`,
          button: 'Show',
          why: 'why-retained',
          because: 'Show what the person agreed to and held, because',
        }),
      ),
  ])
}

async function show(visit: OperatorVisit): Promise<Answer> {
  const details = await erasedUserDetails(visit)
  const reason = reasonOf(visit)
  const { partner, serviceId } = details
  const kept = await openRetained(visit.context.database, partner, serviceId)
  await record(visit, { action: 'look at kept records', result: 'shown', partner, serviceId, reason })
  return page(
    details,
    kept.map(one => retainedPart(one, partner.timezone)),
  )
}

function page({ partner, serviceId }: ErasedUserDetails, body: Slot): Answer {
  return {
    title: 'Records kept by law',
    body: html`<p class="hint">Erased user <a
href="/users/${serviceId}"><code>${serviceId}</code></a> of ${partner.name}</p>
${body}`,
  }
}

async function erasedUserDetails(visit: OperatorVisit): Promise<ErasedUserDetails> {
  const details = await openUserDetails(visit)
  if (!isErased(details)) throw notHere('erased user')
  return details
}
