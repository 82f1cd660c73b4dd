import { dateAt } from '../../calendar/calendar.ts'
import { type Html, html, type Slot } from '../../http/html.ts'
import type { OpenLine } from '../../membership/records/insurer-lines.ts'
import type { OperatorVisit } from '../screen/screen.ts'
import type { UserDetails } from '../user-data/user-details.ts'
import { benefitName } from '../views/moves.ts'
import { section, type Tone, table, tag, when } from '../views/parts.ts'

/** What insurers were told about a user, when, and what they said; empty while nothing was told. */
export function insurersPart(visit: OperatorVisit, details: UserDetails, lines: readonly OpenLine[]): Slot {
  if (lines.length === 0) return ''
  const zone = details.partner.timezone
  return section(
    'What insurers were told',
    table({
      caption: 'What insurers were told, newest first',
      columns: ['When', 'What', 'Cover', 'What the insurer said'],
      rows: lines.map(line => [
        html`${when(line.toldAt, zone)}<br><span class="hint">${originOf(line)}</span>`,
        html`${line.action} ${benefitName(details, line.benefit)}`,
        html`from ${line.startsOn}${line.endsOn !== undefined && html`<br>to ${line.endsOn}`}`,
        saidBy(line, visit, zone),
      ]),
      empty: '',
    }),
    html`<span class="hint">Newest first</span>`,
  )
}

function originOf({ feed, run, line }: OpenLine): Slot {
  if (run === 0) return 'by a former system'
  return html`<a href="/feeds/${feed}">${feed}</a> run ${run}, line ${line}`
}

const tones: Readonly<Record<OpenLine['status'], Tone>> = {
  sent: 'wait',
  accepted: 'good',
  refused: 'bad',
  settled: 'plain',
  doubted: 'wait',
}
const words: Readonly<Record<OpenLine['status'], string>> = {
  sent: 'no answer yet',
  accepted: 'accepted',
  refused: 'refused',
  settled: 'dealt with',
  doubted: 'has it otherwise',
}

function saidBy({ status, answer, answeredAt }: OpenLine, { isSupport }: OperatorVisit, zone: string): Html {
  const said = answer && isSupport ? [answer.code, answer.text].filter(text => text !== '').join(': ') : ''
  const memberId = isSupport ? answer?.memberId : undefined
  return html`${tag(words[status], tones[status])}${
    answeredAt !== undefined && html` <span class="hint">${dateAt(answeredAt, zone)}</span>`
  }${said !== '' && html`<br>${said}`}${memberId && html`<br>member number <code>${memberId}</code>`}`
}
