import { type Html, html } from '../../http/html.ts'
import { MOST_NAMED, type MonthCount } from '../background/month-counts.ts'
import type { OperatorVisit } from '../screen/screen.ts'
import { section, shortId, table } from '../views/parts.ts'

/** Who came and who went since the month before; of many, the first by their service ids. */
export function moversPart(visit: Pick<OperatorVisit, 'isSupport'>, { came, went }: MonthCount): Html {
  return html`${moved(visit, 'Came since the month before', came)}${moved(visit, 'Went since the month before', went)}`
}

function moved(
  { isSupport }: Pick<OperatorVisit, 'isSupport'>,
  heading: string,
  { count, first }: MonthCount['came'],
): Html {
  return section(
    heading,
    html`${table({
      caption: heading,
      columns: ['Who'],
      rows: first.map(({ serviceId, userid }) => [
        html`<a href="/users/${serviceId}">${(isSupport && userid) || shortId(serviceId)}</a>`,
      ]),
      empty: 'Nobody.',
    })}${
      count > first.length &&
      html`<p class="hint">The first ${MOST_NAMED}; the files of both months have all.</p>`
    }`,
    html`<span class="hint">${count.toLocaleString('en-US')}</span>`,
  )
}
