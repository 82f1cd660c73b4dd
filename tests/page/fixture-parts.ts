import type { NamedBeneficiary } from '../../service/src/membership/rules/beneficiaries.ts'
import { ELECTRONIC_RECORDS } from '../../service/src/membership/rules/electronic-records.ts'
import type { Coverage } from '../../service/src/registration/views/coverage-parts.ts'
import type { DoneView, View } from '../../service/src/registration/views/model.ts'
import type {
  BenefitCard,
  BenefitLine,
  BenefitStatus,
  ConsentText,
  Details,
  LostCover,
  PlanChoice,
} from '../../service/src/registration/views/parts.ts'

/** The prefilled person whom the examples show. */
export const ana = {
  firstname: 'Ana María',
  lastname: 'Ruiz Delgado',
  dob: '1990-03-27',
  email: 'ana.ruiz@example.com',
  phone: '3055550134',
  address: {
    addline1: '1200 Brickell Ave',
    addline2: 'Apt 5B',
    addline3: '',
    city: 'Miami',
    state: 'FL',
    zipcode: '33131',
  },
} as const satisfies Details

/** A small drawing for each benefit of the examples. */
export function iconOf(name: string): string {
  const shape = shapes[name] ?? 'M24 14v20M14 24h20'
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48"><rect width="48" height="48" fill="#dcebe4"/><path d="${shape}" fill="none" stroke="#0b6650" stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round"/></svg>`
}

const shapes: Readonly<Record<string, string>> = {
  telehealth: 'M17 12h14a2 2 0 012 2v20a2 2 0 01-2 2H17a2 2 0 01-2-2V14a2 2 0 012-2zM24 18v8M20 22h8M22 31h4',
  accident: 'M24 11l11 4v8c0 7-4.500 11.500-11 14-6.500-2.500-11-7-11-14v-8zM24 19v8M20 23h8',
  dental:
    'M17 14c3-2 4.500 0 7 0s4-2 7 0c4 2.500 3 8 1.500 12S31 35 29 35s-2-7-5-7-3 7-5 7-2-5-3.500-9S13 16.500 17 14z',
  vision: 'M11 24s5-8 13-8 13 8 13 8-5 8-13 8-13-8-13-8zM24 27.500a3.500 3.500 0 100-7 3.500 3.500 0 000 7z',
  gym: 'M16 17v14M32 17v14M12 20v8M36 20v8M16 24h16',
  legal: 'M24 12v23M17 35h14M14 17h20M14 17l-4 9h8zM34 17l-4 9h8z',
  income:
    'M24 12v24M30 17c-1.500-2-3.500-2.500-6-2.500-3.500 0-6 1.500-6 4.500 0 6.500 12.500 3 12.500 9.500 0 3-3 5-6.500 5-3 0-5-1-6.500-3',
}

/** Chooses the text in the language of the examples. */
export type Say = (en: string, es: string) => string

/** The benefits of the examples. */
export function cardsIn(say: Say): readonly BenefitCard[] {
  const free = { kind: 'nothing' } as const
  const card = (
    name: string,
    displayname: string,
    description: string,
    rest: Partial<BenefitCard>,
  ): BenefitCard => ({
    name,
    displayname,
    description,
    iconurl: `/icons/${name}.svg`,
    pays: [],
    notcovered: [],
    cost: free,
    status: { kind: 'available' },
    selected: false,
    ...rest,
    ...(rest.status && rest.status.kind !== 'included' ? {} : { startson: '2026-12-01' }),
  })
  return [
    card(
      'telehealth',
      say('Doctor by phone', 'Médico por teléfono'),
      say(
        'Talk to a doctor at any hour, as often as you need.',
        'Hable con un médico a cualquier hora, las veces que necesite.',
      ),
      {
        status: { kind: 'included' },
        pays: [
          say('Unlimited calls and video visits', 'Llamadas y videoconsultas sin límite'),
          say('Prescriptions sent to your pharmacy', 'Recetas enviadas a su farmacia'),
        ],
        notcovered: [say('Emergencies – call 911', 'Emergencias: llame al 911')],
      },
    ),
    card(
      'accident',
      say('Accident coverage', 'Cobertura de accidentes'),
      say(
        'Pays medical bills when you are hurt while you work.',
        'Paga los gastos médicos si se lesiona mientras trabaja.',
      ),
      {
        worth: { amount: 10000, currency: 'USD' },
        selected: true,
        coverage: coverageIn(say),
        pays: [
          say('Hospital, ambulance and doctor', 'Hospital, ambulancia y médico'),
          say('$50 for each day in the hospital', '$50 por cada día en el hospital'),
        ],
        notcovered: [say('Accidents outside work', 'Accidentes fuera del trabajo')],
      },
    ),
    card(
      'dental',
      say('Dental care', 'Cuidado dental'),
      say(
        'Two checkups a year, and less to pay for the rest.',
        'Dos revisiones al año y menos que pagar por lo demás.',
      ),
      {
        cost: {
          kind: 'amount',
          amount: 4.5,
          currency: 'USD',
          per: 'month',
          taken: { by: 'Harbor Rides', how: say('from your weekly payout', 'de su pago semanal') },
        },
        pays: [say('Two checkups and cleanings a year', 'Dos revisiones y limpiezas al año')],
        notcovered: [say('Braces for adults', 'Ortodoncia para adultos')],
      },
    ),
    card(
      'vision',
      say('Vision care', 'Cuidado de la vista'),
      say(
        'An eye exam and money for glasses every year.',
        'Un examen de la vista y dinero para lentes cada año.',
      ),
      {
        worth: { amount: 150, currency: 'USD', per: 'day' },
        pays: [say('One exam a year', 'Un examen al año')],
      },
    ),
    card(
      'gym',
      say('Gym pass', 'Pase de gimnasio'),
      say('A lower price at 9,000 gyms.', 'Un precio más bajo en 9,000 gimnasios.'),
      { status: { kind: 'swapin', from: '2026-12-01' } },
    ),
    card(
      'legal',
      say('Legal help', 'Ayuda legal'),
      say('Half an hour with a lawyer, every month.', 'Media hora con un abogado, cada mes.'),
      { status: { kind: 'enrolled', since: '2026-03-01' } },
    ),
    card(
      'income',
      say('Income protection', 'Protección de ingresos'),
      say('Money while you cannot work.', 'Dinero mientras no puede trabajar.'),
      {
        worth: { amount: 2000, currency: 'USD' },
        status: {
          kind: 'unavailable',
          reasons: [say('For people from 21 years on', 'Para personas a partir de 21 años')],
        },
      },
    ),
    card(
      'pets',
      say('Care for pets', 'Cuidado de mascotas'),
      say('Help with the vet.', 'Ayuda con el veterinario.'),
      {
        status: { kind: 'unknown', text: say('Under review', 'En revisión') },
      },
    ),
  ]
}

/** What an insurer must show about a benefit. */
export function coverageIn(say: Say): Coverage {
  return {
    insurer: {
      name: 'Seaview Mutual Insurance Company',
      licence: say('Licensed in all states. NAIC 00000.', 'Con licencia en todos los estados. NAIC 00000.'),
    },
    waiting: {
      days: 30,
      text: say(
        'An illness found in this time is not paid.',
        'No se paga una enfermedad detectada en este tiempo.',
      ),
    },
    documents: [
      {
        title: say('Summary of benefits', 'Resumen de beneficios'),
        address: '/files/0/summary.pdf',
        language: 'en',
      },
      { title: say('Fraud notice', 'Aviso de fraude'), address: '/files/1/fraud.pdf', language: 'es' },
    ],
  }
}

/** A plan with these benefits in it, of which the first `included` come with it and the others can be chosen. */
export function planOf(
  say: Say,
  cards: readonly BenefitCard[],
  { included, ...plan }: { readonly included: number } & PlanName,
): PlanChoice {
  return {
    ...plan,
    description: say('For everyone who drives.', 'Para todos los que conducen.'),
    included: cards.slice(0, included).map(({ displayname, iconurl, description, cost }) => ({
      displayname,
      iconurl,
      description,
      cost,
    })),
    selectable: cards.slice(included).map(({ displayname, cost }) => ({ displayname, cost })),
  }
}

type PlanName = { readonly offer: string; readonly displayname: string; readonly slots: number }

/** A member's benefits and possible benefits: a card for each status. */
export function memberCards(say: Say, cards: readonly BenefitCard[]): readonly BenefitCard[] {
  const standing: readonly (readonly [string, BenefitStatus])[] = [
    ['telehealth', { kind: 'enrolled', since: '2026-03-01' }],
    ['accident', { kind: 'ending', on: '2026-12-31' }],
    ['dental', { kind: 'scheduled', from: '2026-12-01' }],
    ['legal', { kind: 'actionrequired', dueon: '2026-12-20' }],
    ['pets', { kind: 'actionrequired' }],
    ['vision', { kind: 'swapout', on: '2026-11-30' }],
    ['gym', { kind: 'swapin', from: '2026-12-01' }],
    ['income', { kind: 'otherplan', plans: ['Harbor Plus', say('Harbor Gold', 'Harbor Oro')] }],
  ]
  const held = standing.map(([name, status]) => ({
    ...undated(cardOf(cards, name)),
    status,
    selected: false,
  }))
  const priced = (card: BenefitCard, rest: Partial<BenefitCard>): BenefitCard => ({ ...card, ...rest })
  const { telehealth, dental } = { telehealth: cardOf(cards, 'telehealth'), dental: cardOf(cards, 'dental') }
  return [
    ...held,
    priced(telehealth, {
      name: 'hospital',
      displayname: say('Hospital cash', 'Dinero por hospitalización'),
      status: { kind: 'full', swapto: 'swap?in=hospital' },
      worth: { amount: 700, currency: 'USD', per: 'week' },
      cost: { kind: 'amount', amount: 12, currency: 'USD', per: 'once' },
    }),
    priced(dental, {
      name: 'savings',
      displayname: say('Emergency savings', 'Ahorro de emergencia'),
      status: { kind: 'unavailable', reasons: [] },
      worth: { amount: 25, currency: 'USD', per: 'month' },
    }),
  ]
}

/** One of them by its name; throws when there is none. */
export function cardOf(cards: readonly BenefitCard[], name: string): BenefitCard {
  const card = cards.find(found => found.name === name)
  if (!card) throw new Error(`no such benefit in the fixtures: ${name}`)
  return card
}

/** A card without a first day. */
export function undated({ startson: _, ...card }: BenefitCard): BenefitCard {
  return card
}

/** A card in one line. */
export function toLine(card: BenefitCard): BenefitLine {
  const { name, displayname, iconurl, startson, cost, coverage } = card
  return {
    name,
    displayname,
    iconurl,
    cost,
    ...(startson === undefined ? {} : { startson }),
    ...(coverage === undefined ? {} : { coverage }),
  }
}

/** The consent to electronic records, asked for before the first agreement, with its own words. */
export function recordsIn(locale: 'en' | 'es'): ConsentText {
  const { name, version, title, text, agree } = ELECTRONIC_RECORDS
  const paragraphs = text[locale].split('\n\n')
  return { name, version, title: title[locale], agree: agree[locale], paragraphs, checked: false }
}

/** A benefit that a swap takes away, as it is shown: without dates and without a price. */
export function toGoing({ name, displayname, iconurl }: BenefitCard): BenefitLine {
  return { name, displayname, iconurl }
}

type Lines = readonly BenefitLine[]
const firstday = '2026-11-20'
const lastday = '2026-11-30'

/** The possible situations of the benefits in a view, each made from lines that start on December 1. */
export const standings = {
  ahead: (lines: Lines): Lines => lines,
  begun: (lines: Lines): Lines => lines.map(line => ({ ...without(line), since: firstday })),
  ending: (lines: Lines): Lines => lines.map(line => ({ ...without(line), endson: lastday })),
  ended: (lines: Lines): Lines => lines.map(line => ({ ...without(line), endedon: firstday })),
  none: (): Lines => [],
  /** All in force except the second, which waits for the person. */
  onewaits: (lines: Lines): Lines =>
    lines.map((line, at) => ({
      ...without(line),
      ...(at === 1 ? { actionrequired: true, dueon: '2026-12-20' } : { since: firstday }),
    })),
  /** All in force, the last only until the month's end. */
  lastends: (lines: Lines): Lines =>
    lines.map((line, at) => ({
      ...without(line),
      ...(at === lines.length - 1 ? { endson: lastday } : { since: firstday }),
    })),
  /** All in force, the second until the month's end, and the last from then on. */
  exchanged: (lines: Lines): Lines =>
    lines.map((line, at) => {
      if (at === lines.length - 1) return line
      return { ...without(line), ...(at === 1 ? { endson: lastday } : { since: firstday }) }
    }),
}

function without({ startson: _, ...line }: BenefitLine): BenefitLine {
  return line
}

/** A consent to ask for. */
export function consentsIn(say: Say): readonly ConsentText[] {
  return [
    {
      name: 'terms',
      version: '2026-10',
      title: say('Terms of Accident coverage', 'Condiciones de la cobertura de accidentes'),
      checked: false,
      paragraphs: [
        say(
          'By agreeing you let Harbor Rides share your name, date of birth and address with the company that provides this coverage, for that purpose alone.',
          'Al aceptar, permite que Harbor Rides comparta su nombre, fecha de nacimiento y dirección con la compañía que da esta cobertura, solo para ese fin.',
        ),
        say(
          'Coverage starts on the day shown and ends when you leave the plan. You can leave at any time.',
          'La cobertura empieza el día indicado y termina cuando deja el plan. Puede dejarlo en cualquier momento.',
        ),
      ],
    },
  ]
}

/** The plans of the examples, one of them not open to the person. */
export function offersIn(say: Say): Extract<View, { view: 'OFFER_CHANGE' }>['offers'] {
  const effectiveon = '2026-12-01'
  return [
    { offer: 'basic', displayname: 'Harbor Basic', direction: 'current', reasons: [] },
    {
      offer: 'plus',
      displayname: 'Harbor Plus',
      direction: 'upgrade',
      effectiveon: '2026-11-20',
      reasons: [],
    },
    { offer: 'mini', displayname: 'Harbor Mini', direction: 'downgrade', effectiveon, reasons: [] },
    {
      offer: 'gold',
      displayname: 'Harbor Gold',
      direction: 'upgrade',
      reasons: [say('For drivers with 100 rides a month', 'Para conductores con 100 viajes al mes')],
    },
  ]
}

/**
 * Every confirmation except the plainest: what was done, and whether it holds now or from a day on. `lines`: the
 * situation of the listed benefits.
 */
export const tellings: readonly {
  readonly name: string
  readonly outcome: DoneView['outcome']
  readonly told: DoneView['told']
  readonly lines: keyof typeof standings
  readonly undo?: true
}[] = [
  {
    name: 'enrolled-from',
    outcome: 'enrolled',
    lines: 'ahead',
    told: { what: 'enrolled', from: '2026-12-01' },
  },
  { name: 'added', outcome: 'enrolled', lines: 'begun', told: { what: 'added', count: 1 } },
  {
    name: 'added-from',
    outcome: 'enrolled',
    lines: 'ahead',
    told: { what: 'added', count: 2, from: '2026-12-01' },
  },
  { name: 'upgraded', outcome: 'changed', lines: 'begun', told: { what: 'upgraded', plan: 'Harbor Plus' } },
  {
    name: 'upgraded-from',
    outcome: 'changed',
    lines: 'ahead',
    undo: true,
    told: { what: 'upgraded', plan: 'Harbor Plus', from: '2026-12-01' },
  },
  {
    name: 'downgraded',
    outcome: 'changed',
    lines: 'begun',
    told: { what: 'downgraded', plan: 'Harbor Basic' },
  },
  {
    name: 'downgraded-from',
    outcome: 'changed',
    lines: 'lastends',
    undo: true,
    told: { what: 'downgraded', plan: 'Harbor Basic', from: '2026-12-01' },
  },
  { name: 'swapped', outcome: 'swapped', lines: 'begun', told: { what: 'swapped' } },
  {
    name: 'swapped-from',
    outcome: 'swapped',
    lines: 'exchanged',
    undo: true,
    told: { what: 'swapped', from: '2026-12-01' },
  },
  ...(['today', 'past', 'neverbegun'] as const).map(timing => ({
    ...({ name: `cancelled-${timing}`, outcome: 'cancelled' } as const),
    lines: timing === 'neverbegun' ? ('none' as const) : ('ended' as const),
    told: {
      ...({ what: 'cancelled', lastday: '2026-11-20', timing, hasDropped: false } as const),
      backuntil: Date.UTC(2026, 11, 20, 17, 30),
    },
  })),
  {
    name: 'cancelled-from',
    outcome: 'cancelled',
    lines: 'ending',
    told: { what: 'cancelled', lastday: '2026-11-30', timing: 'ahead', hasDropped: true },
  },
  ...(['swap', 'offer'] as const).map(of => ({
    ...({ name: `undone-${of}`, outcome: 'undone', lines: 'begun' } as const),
    told: { what: 'undone', of, plan: 'Harbor Plus' } as const,
  })),
  ...(['swap', 'offer'] as const).map(of => ({
    ...({ name: `undone-${of}-from`, outcome: 'undone', lines: 'ahead' } as const),
    told: { what: 'undone', of, plan: 'Harbor Plus', from: '2026-12-01' } as const,
  })),
  { name: 'kept', outcome: 'undone', lines: 'begun', told: { what: 'kept' } },
  {
    name: 'reinstated',
    outcome: 'undone',
    lines: 'begun',
    told: { what: 'reinstated', missing: ['Harbor Gym'] },
  },
  {
    name: 'reinstated-from',
    outcome: 'undone',
    lines: 'ahead',
    told: { what: 'reinstated', from: '2026-12-01', missing: [] },
  },
]

/** The beneficiaries of the person in the examples. */
export function namedIn(say: Say): readonly NamedBeneficiary[] {
  return [
    { kind: 'primary', name: 'Luis Ruiz', relationship: 'spouse', share: 60, contact: '305-555-0177' },
    { kind: 'primary', name: 'Sofía Ruiz', relationship: 'child', share: 40, dob: '2019-05-04' },
    {
      kind: 'contingent',
      relationship: 'trust',
      share: 100,
      name: say('The Ruiz Family Trust', 'Fideicomiso de la familia Ruiz'),
    },
  ]
}

/** The benefits that a member loses by a change of their details. */
export function lostIn(say: Say): readonly LostCover[] {
  return [
    { name: 'dental', displayname: say('Dental care', 'Cuidado dental'), how: 'ends', on: '2026-11-30' },
    { name: 'vision', displayname: say('Vision care', 'Cuidado de la vista'), how: 'neverstarts' },
  ]
}
