import { html, type Slot } from '../../http/html.ts'
import type { ConsentRecord } from '../../membership/records/consents.ts'
import type { ConsentChannel } from '../../membership/rules/state.ts'
import { knownBenefit } from '../../membership/rules/terms.ts'
import type { UserDetails } from '../user-data/user-details.ts'
import { table, when } from '../views/parts.ts'

/** The person's consents and how each was given; the evidence only together with the person's data. */
export function consentsTable(
  { user, terms, partner, operators }: UserDetails,
  records: readonly ConsentRecord[],
  isPersonShown: boolean,
): Slot {
  return table({
    caption: 'Consents, the oldest first',
    columns: ['To', 'Version', 'When', 'How', ...(isPersonShown ? ['Evidence'] : [])],
    rows: records.map(one => [
      knownBenefit(terms, user, one.name)?.displayname.en ?? one.name,
      html`<code>${one.version}</code> ${one.locale}`,
      when(one.agreedAt, partner.timezone),
      html`${WORDS[one.channel]}${one.recordedBy !== undefined && html`<br><span class="hint">put on record by ${operators.get(one.recordedBy) ?? one.recordedBy}</span>`}`,
      ...(isPersonShown ? [one.evidence ?? '–'] : []),
    ]),
    empty: 'No consent is on record.',
  })
}

const WORDS: Readonly<Record<ConsentChannel, string>> = {
  page: 'on the page',
  partner: 'sent by the partner',
  phone: 'by phone',
  paper: 'on paper',
  email: 'by email',
}
