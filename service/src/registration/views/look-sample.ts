import type { View } from './model.ts'
import type { BenefitCard, BenefitLine } from './parts.ts'
import type { Page } from './surroundings.ts'

/** The views that show a look. */
export const SAMPLE_NAMES = ['start', 'benefits', 'check'] as const
type SampleName = (typeof SAMPLE_NAMES)[number]

/** A view with invented content, shown in this look. */
export function sampleView(name: SampleName, page: Page): View {
  const first = card(page, {
    name: 'accident',
    displayname: 'Accident coverage',
    selected: true,
    description: 'Money after an accident, on the job or at home.',
    cost: { kind: 'nothing' },
  })
  const second = card(page, {
    name: 'dental',
    displayname: 'Dental discount',
    selected: false,
    description: 'Lower prices at dentists near you.',
    cost: { kind: 'amount', amount: 4.5, currency: 'USD', per: 'month' },
  })
  const steps = { ...page, step: { at: 2, of: 3 } }
  switch (name) {
    case 'start':
      return {
        view: 'START',
        page,
        firstname: 'Ada',
        shared: ['name', 'dob', 'contact'],
        resumed: false,
        choosesplan: false,
      }
    case 'benefits':
      return {
        view: 'BENEFITS',
        page: steps,
        offername: 'Plus',
        slots: 1,
        cards: [first, second],
        focus: 'accident',
        errors: [{ input: 'benefit', code: 'benefits_many', count: 1 }],
      }
    case 'check':
      return {
        view: 'CHECK_ANSWERS',
        page: steps,
        details: { firstname: 'Ada', lastname: 'Rivera', dob: '1990-03-27', email: 'ada.rivera@example.com' },
        offername: 'Plus',
        benefits: [lineOf(first), lineOf(second)],
        choosable: true,
        consents: [],
      }
  }
}

function lineOf({ name, displayname, iconurl, cost }: BenefitCard): BenefitLine {
  return { name, displayname, iconurl, cost }
}

function card(
  page: Page,
  own: Pick<BenefitCard, 'name' | 'displayname' | 'description' | 'cost' | 'selected'>,
): BenefitCard {
  const basePath = page.root.slice(0, page.root.lastIndexOf('/'))
  return {
    ...own,
    iconurl: `${basePath}/icons/${own.name}.svg`,
    pays: ['What a person reads about what is covered.'],
    notcovered: ['And about what is not.'],
    status: { kind: 'available' },
  }
}
