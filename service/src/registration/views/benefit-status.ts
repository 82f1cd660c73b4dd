import { type Html, html } from '../../http/html.ts'
import { dayText } from './format.ts'
import { type IconName, icon } from './icons.ts'
import type { BenefitStatus } from './parts.ts'
import type { Page } from './surroundings.ts'
import { textsOf } from './texts.ts'

/** The status of a benefit, as a sign and words. */
export function statusText(page: Page, status: BenefitStatus): Html {
  const [sign, kind] = signs[status.kind]
  const reasons = status.kind === 'unavailable' ? status.reasons : []
  const isAhead = status.kind === 'scheduled' || status.kind === 'swapin'
  const end = isAhead && status.until && textsOf(page).benefits.status.ending(dayText(page, status.until))
  return html`<div class="status ${kind}">${icon(sign)}<div><p>${statusWords(page, status)}</p>${
    end && html`<p>${end}</p>`
  }${reasons.map(reason => html`<p class="hint">${reason}</p>`)}</div></div>`
}

const signs: Readonly<Record<BenefitStatus['kind'], readonly [IconName, 'good' | 'warn' | 'plain']>> = {
  enrolled: ['check', 'good'],
  included: ['check', 'good'],
  scheduled: ['clock', 'plain'],
  ending: ['clock', 'warn'],
  swapin: ['swap', 'plain'],
  swapout: ['swap', 'plain'],
  actionrequired: ['alert', 'warn'],
  waiting: ['alert', 'warn'],
  unavailable: ['no', 'plain'],
  full: ['swap', 'plain'],
  otherplan: ['info', 'plain'],
  available: ['plus', 'plain'],
}

function statusWords(page: Page, status: BenefitStatus): string {
  const words = textsOf(page).benefits.status
  const on = (day: string) => dayText(page, day)
  switch (status.kind) {
    case 'enrolled':
      return status.until
        ? words.enrolleduntil(on(status.since), on(status.until))
        : words.enrolled(on(status.since))
    case 'scheduled':
    case 'swapin':
      return words[status.kind](on(status.from))
    case 'ending':
    case 'swapout':
      return words[status.kind](on(status.on))
    case 'actionrequired':
    case 'waiting':
      return status.dueon ? words.actionrequiredby(on(status.dueon)) : words.actionrequired
    case 'otherplan':
      return words.otherplan(new Intl.ListFormat(page.locale, { type: 'disjunction' }).format(status.plans))
    default:
      return words[status.kind]
  }
}
