import type { View } from '../../service/src/registration/views/model.ts'
import type {
  BenefitCard,
  BenefitLine,
  ConsentText,
  Details,
} from '../../service/src/registration/views/parts.ts'
import type { Locale, Page } from '../../service/src/registration/views/surroundings.ts'

/** Where the rig serves the built files. */
export interface Built {
  readonly stylesheets: readonly string[]
  readonly script: string
  readonly icon: string
}

/** One view with a name of its own: a view name, and what is special about this one. */
export interface Example {
  readonly name: string
  readonly view: View
}

/** Every view in every state worth seeing, in one language. */
export function examples(locale: Locale, built: Built, shell: Page['shell'] = 'hosted'): readonly Example[] {
  const page: Page = {
    ...built,
    shell,
    locale,
    partner: { displayname: 'Harbor Rides' },
    help: { phone: '1-800-555-0142', email: 'benefits@harborrides.example' },
    zone: 'America/New_York',
    root: '/register',
    idleseconds: 3600,
    draft: '7',
  }
  const step = (at: number): Page => ({ ...page, step: { at, of: 3 } })
  const redirect = shell === 'hosted' ? { redirecturl: 'https://harborrides.example/benefits' } : {}
  const say = (en: string, es: string) => (locale === 'es' ? es : en)
  const cards = cardsIn(say)
  const lines = cards.slice(0, 3).map(toLine)
  const consents = consentsIn(say)
  const effectiveon = '2026-12-01'
  const lockedat = Date.UTC(2026, 10, 30, 5)
  const offers = offersIn(say)
  const lead = '019ab2c4-5d6e-7f80-9a1b-2c3d4e5f6071'
  return [
    { name: 'open', view: { view: 'OPEN', page, action: '/register/open' } },
    {
      name: 'challenge',
      view: { view: 'CHALLENGE', page, action: '/register/challenge', firstname: 'Ana', triesleft: 5 },
    },
    {
      name: 'challenge-wrong',
      view: {
        ...{ view: 'CHALLENGE', page, action: '/register/challenge', firstname: 'Ana', triesleft: 4 },
        kept: { dobmonth: '3', dobday: '28', dobyear: '1990' },
        errors: [{ input: 'dobmonth', code: 'dob_mismatch', count: 4 }],
      },
    },
    {
      name: 'start',
      view: {
        ...{ view: 'START', page, firstname: 'Ana', resumed: false },
        shared: ['name', 'dob', 'contact', 'address'],
      },
    },
    { name: 'start-resumed', view: { view: 'START', page, shared: [], resumed: true } },
    {
      name: 'details-review',
      view: { view: 'DETAILS_REVIEW', page: step(1), details: ana, missing: [], suggested: ['contact'] },
    },
    {
      name: 'details-review-missing',
      view: {
        ...{ view: 'DETAILS_REVIEW', page: step(1), missing: ['dob', 'address'], suggested: [] },
        details: { firstname: 'Ana', lastname: 'Ruiz', email: 'ana.ruiz@example.com', phone: '3055550134' },
      },
    },
    { name: 'edit-name', view: { view: 'DETAILS_EDIT', page: step(1), group: 'name', details: ana } },
    {
      name: 'edit-name-wrong',
      view: {
        ...{ view: 'DETAILS_EDIT', page: step(1), group: 'name', details: ana },
        kept: { firstname: '', lastname: 'Ruiz' },
        errors: [{ input: 'firstname', code: 'firstname_missing' }],
      },
    },
    { name: 'edit-dob', view: { view: 'DETAILS_EDIT', page: step(1), group: 'dob', details: ana } },
    {
      name: 'edit-dob-wrong',
      view: {
        ...{ view: 'DETAILS_EDIT', page: step(1), group: 'dob', details: ana },
        kept: { dobmonth: '2', dobday: '30', dobyear: '1990' },
        errors: [{ input: 'dobday', code: 'dob_invalid' }],
      },
    },
    {
      name: 'edit-contact',
      view: {
        ...{ view: 'DETAILS_EDIT', page: step(1), group: 'contact', details: ana },
        suggestion: { email: 'ana@newmail.example', phone: '3055550199' },
      },
    },
    {
      name: 'edit-address-wrong',
      view: {
        ...{ view: 'DETAILS_EDIT', page: step(1), group: 'address', details: ana },
        kept: { addline1: '1200 Brickell Ave', city: 'Miami', state: '', zipcode: '3313' },
        errors: [
          { input: 'state', code: 'state_missing' },
          { input: 'zipcode', code: 'zipcode_invalid' },
        ],
      },
    },
    { name: 'edit-gender', view: { view: 'DETAILS_EDIT', page: step(1), group: 'gender', details: ana } },
    {
      name: 'benefits',
      view: { view: 'BENEFITS', page: step(2), offername: 'Harbor Plus', slots: 2, cards, focus: 'accident' },
    },
    {
      name: 'benefits-wrong',
      view: {
        ...{
          view: 'BENEFITS',
          page: { ...step(2), conflict: true },
          offername: 'Harbor Plus',
          slots: 1,
          cards,
        },
        errors: [{ input: 'benefit', code: 'benefits_many', count: 1 }],
      },
    },
    {
      name: 'benefits-fixed',
      view: {
        ...{ view: 'BENEFITS', page: step(2), offername: 'Harbor Basic', slots: 0 },
        cards: cards.filter(card => card.status.kind === 'included' || card.status.kind === 'unavailable'),
      },
    },
    {
      name: 'plan',
      view: {
        ...{ view: 'PLAN', page: { ...page, step: { at: 2, of: 4 } }, chosen: 'plus' },
        plans: [
          {
            ...{ offer: 'basic', displayname: 'Harbor Basic', slots: 1 },
            included: cards.slice(0, 1).map(({ displayname }) => displayname),
          },
          {
            ...{ offer: 'plus', displayname: 'Harbor Plus', slots: 3 },
            included: cards.slice(0, 2).map(({ displayname }) => displayname),
          },
        ],
      },
    },
    {
      name: 'swap',
      view: {
        ...{
          view: 'SWAP',
          page,
          effectiveon,
          lockedat,
          locked: false,
          freeslots: 1,
          chosen: { dental: 'gym' },
        },
        held: cards.filter(card => card.name === 'dental'),
        available: cards.filter(card => ['gym', 'legal'].includes(card.name)),
        pending: [{ out: toLine(undated(cardOf(cards, 'vision'))), in: toLine(cardOf(cards, 'legal')) }],
      },
    },
    {
      name: 'swap-locked',
      view: {
        ...{ view: 'SWAP', page, effectiveon, lockedat, locked: true, freeslots: 0, chosen: {}, held: [] },
        ...{ available: [], pending: [] },
      },
    },
    {
      name: 'swap-confirm',
      view: {
        ...{ view: 'SWAP_CONFIRM', page, effectiveon, lockedat, consents: [] },
        pairs: [
          { out: toLine(undated(cardOf(cards, 'dental'))), in: toLine(cardOf(cards, 'gym')) },
          { in: toLine(cardOf(cards, 'legal')) },
        ],
      },
    },
    {
      name: 'offer-change',
      view: { view: 'OFFER_CHANGE', page, offers, chosen: 'plus', locked: false, lockedat },
    },
    {
      name: 'offer-change-pending',
      view: {
        ...{ view: 'OFFER_CHANGE', page, offers, locked: true, lockedat },
        pending: { displayname: 'Harbor Basic', effectiveon },
        errors: [{ input: 'offername', code: 'offer_missing' }],
      },
    },
    {
      name: 'offer-confirm',
      view: {
        ...{
          view: 'OFFER_CONFIRM',
          page,
          from: 'Harbor Basic',
          previewid: 'p1',
          undountil: lockedat,
          consents: [],
        },
        to: { offer: 'plus', displayname: 'Harbor Plus', direction: 'upgrade', effectiveon, reasons: [] },
        ...{ gained: lines.slice(0, 2), lost: [], kept: lines.slice(2) },
      },
    },
    {
      name: 'cancel',
      view: { view: 'CANCEL', page, benefits: lines, lastday: '2026-11-30', reinstatedays: 30 },
    },
    {
      name: 'cancel-pending',
      view: {
        ...{ view: 'CANCEL', page, benefits: lines, lastday: '2026-11-30', reinstatedays: 30 },
        ...{ pending: { on: '2026-11-30' }, errors: [{ input: 'effective', code: 'when_missing' }] },
      },
    },
    {
      name: 'check-answers',
      view: {
        ...{ view: 'CHECK_ANSWERS', page: step(3), details: ana, offername: 'Harbor Plus' },
        ...{ benefits: lines, choosable: true, consents },
      },
    },
    {
      name: 'check-answers-wrong',
      view: {
        ...{ view: 'CHECK_ANSWERS', page: step(3), details: ana, offername: 'Harbor Plus' },
        ...{ benefits: lines, choosable: true, consents },
        errors: [{ input: 'consent.terms', code: 'consent_missing' }],
      },
    },
    {
      name: 'done',
      view: {
        ...{
          view: 'DONE',
          page,
          outcome: 'enrolled',
          reference: 'HR-7K2M-94QD',
          firstname: 'Ana',
          ...redirect,
        },
        completedat: Date.UTC(2026, 10, 20, 17, 30),
        benefits: lines.map((line, at) => ({ ...line, actionrequired: at === 1 })),
        ...(shell === 'frame' ? { resulttoken: 'result-of-the-fixture' } : {}),
      },
    },
    {
      name: 'done-swapped',
      view: {
        ...{ view: 'DONE', page, outcome: 'swapped', reference: 'HR-2V8X-01PB', effectiveon, ...redirect },
        ...{ completedat: Date.UTC(2026, 10, 20, 17, 30), benefits: [], undountil: lockedat },
      },
    },
    {
      name: 'already-enrolled',
      view: {
        ...{ view: 'ALREADY_ENROLLED', page, offername: 'Harbor Plus', benefits: lines, ...redirect },
        ...{
          paths: { canadd: true, canswap: true, canchangeoffer: true, cancancel: true },
          suggested: ['contact'],
        },
      },
    },
    {
      name: 'no-benefits',
      view: {
        ...{ view: 'NO_BENEFITS', page, ...redirect },
        reasons: [
          say(
            'These benefits are for people from 18 to 64.',
            'Estos beneficios son para personas de 18 a 64 años.',
          ),
          say('None of them is offered in Vermont yet.', 'Ninguno se ofrece todavía en Vermont.'),
        ],
      },
    },
    {
      name: 'link-ended',
      view: { view: 'LINK_ENDED', page: { ...page, partner: { displayname: '' }, help: {} }, kind: 'link' },
    },
    { name: 'session-ended', view: { view: 'LINK_ENDED', page, kind: 'session', ...redirect } },
    {
      name: 'problem',
      view: { view: 'PROBLEM', page, kind: 'internal', requestid: lead, retry: '/register' },
    },
    { name: 'problem-notfound', view: { view: 'PROBLEM', page, kind: 'notfound', requestid: lead } },
  ]
}

/** The person of the examples. */
export const ana: Details = {
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
    zipcode: '331311234',
  },
}

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

type Say = (en: string, es: string) => string

function cardsIn(say: Say): readonly BenefitCard[] {
  const free = { kind: 'nothing' } as const
  const card = (
    name: string,
    displayname: string,
    description: string,
    rest: Partial<BenefitCard>,
  ): BenefitCard => ({
    ...{ name, displayname, description, iconurl: `/icons/${name}.svg`, pays: [], notcovered: [] },
    ...{ cost: free, status: { kind: 'available' }, selected: false, ...rest },
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
      say('Accident cover', 'Cobertura de accidentes'),
      say(
        'Pays medical bills when you are hurt while you work.',
        'Paga los gastos médicos si se lesiona mientras trabaja.',
      ),
      {
        worth: { amount: 10000, currency: 'USD' },
        selected: true,
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
        cost: { kind: 'amount', amount: 4.5, currency: 'USD', per: 'month' },
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

function cardOf(cards: readonly BenefitCard[], name: string): BenefitCard {
  const card = cards.find(found => found.name === name)
  if (!card) throw new Error(`no such benefit in the fixtures: ${name}`)
  return card
}

function undated({ startson: _, ...card }: BenefitCard): BenefitCard {
  return card
}

function toLine({ name, displayname, iconurl, startson, cost }: BenefitCard): BenefitLine {
  return { name, displayname, iconurl, cost, ...(startson === undefined ? {} : { startson }) }
}

function consentsIn(say: Say): readonly ConsentText[] {
  return [
    {
      name: 'terms',
      version: '2026-10',
      title: say('Terms of Accident cover', 'Condiciones de la cobertura de accidentes'),
      checked: false,
      paragraphs: [
        say(
          'By agreeing you let Harbor Rides share your name, date of birth and address with the company that provides this cover, for that purpose alone.',
          'Al aceptar, permite que Harbor Rides comparta su nombre, fecha de nacimiento y dirección con la compañía que da esta cobertura, solo para ese fin.',
        ),
        say(
          'Cover starts on the day shown and ends when you leave the plan. You can leave at any time.',
          'La cobertura empieza el día indicado y termina cuando deja el plan. Puede dejarlo en cualquier momento.',
        ),
      ],
    },
  ]
}

function offersIn(say: Say): Extract<View, { view: 'OFFER_CHANGE' }>['offers'] {
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
      ...{ offer: 'gold', displayname: 'Harbor Gold', direction: 'upgrade' },
      reasons: [say('For drivers with 100 rides a month', 'Para conductores con 100 viajes al mes')],
    },
  ]
}
