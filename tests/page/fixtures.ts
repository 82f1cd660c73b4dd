import { rowsOf } from '../../service/src/registration/views/beneficiary-form.ts'
import type { View } from '../../service/src/registration/views/model.ts'
import type { BenefitLine } from '../../service/src/registration/views/parts.ts'
import type { Locale, Page } from '../../service/src/registration/views/surroundings.ts'
import {
  ana,
  cardOf,
  cardsIn,
  consentsIn,
  lostIn,
  memberCards,
  namedIn,
  offersIn,
  planOf,
  recordsIn,
  standings,
  tellings,
  toGoing,
  toLine,
  undated,
} from './fixture-parts.ts'

/** Where the rig serves the built files. */
export type Built = {
  readonly stylesheets: readonly string[]
  readonly script: string
  readonly icon: string
}

/** One view with a name of its own: a view's name, and what is special about this example. */
export type Example = {
  readonly name: string
  readonly view: View
  /** The content that the page's script would have added by now, as source to be run in the page. */
  readonly script?: string
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
  const { idleseconds: _, ...left } = page
  const step = (at: number): Page => ({ ...page, step: { at, of: 3 } })
  const redirect = shell === 'hosted' ? { redirecturl: 'https://harborrides.example/benefits' } : {}
  const say = (en: string, es: string) => (locale === 'es' ? es : en)
  const cards = cardsIn(say)
  const lines = cards.slice(0, 3).map(toLine)
  const consents = consentsIn(say)
  const longZip = { ...ana, address: { ...ana.address, zipcode: '331311234' } }
  const effectiveon = '2026-12-01'
  const paths = { canadd: true, canswap: true, canchangeoffer: true, cancancel: true }
  const lockedat = Date.UTC(2026, 10, 30, 5)
  const offers = offersIn(say)
  const lead = '019ab2c4-5d6e-7f80-9a1b-2c3d4e5f6071'
  return [
    ...(['registration', 'benefits', 'swap', 'offerchange'] as const).map(
      (purpose): Example => ({
        name: purpose === 'registration' ? 'open' : `open-${purpose}`,
        view: { view: 'OPEN', page: left, action: '/register/open', purpose },
      }),
    ),
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
        ...{ view: 'START', page, firstname: 'Ana', resumed: false, choosesplan: false },
        shared: ['name', 'dob', 'contact', 'address'],
      },
    },
    { name: 'start-resumed', view: { view: 'START', page, shared: [], resumed: true, choosesplan: true } },
    {
      name: 'start-comeback',
      view: {
        ...{ view: 'START', page, firstname: 'Ana', shared: [], resumed: false, choosesplan: true },
        known: ['name', 'dob', 'contact', 'address'],
        comeback: { offername: 'Harbor Plus', benefits: lines, agreed: true },
      },
    },
    {
      name: 'details-review',
      view: { view: 'DETAILS_REVIEW', page: step(1), details: longZip, missing: [], suggested: ['contact'] },
    },
    {
      name: 'details-review-missing',
      view: {
        ...{ view: 'DETAILS_REVIEW', page: step(1), missing: ['dob', 'address'], suggested: [] },
        details: { firstname: 'Ana', lastname: 'Ruiz', email: 'ana.ruiz@example.com', phone: '3055550134' },
      },
    },
    {
      name: 'details-review-lost',
      view: {
        ...{ view: 'DETAILS_REVIEW', page, details: longZip, missing: [], suggested: [] },
        lost: lostIn(say),
      },
    },
    {
      name: 'edit-address-member',
      view: { view: 'DETAILS_EDIT', page, group: 'address', details: ana, mayend: true },
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
    {
      name: 'edit-name-offline',
      view: { view: 'DETAILS_EDIT', page: step(1), group: 'name', details: ana },
      script: `document.getElementById('main').prepend(${template}.getElementById('offline').cloneNode(true))`,
    },
    {
      name: 'edit-name-timeout',
      view: { view: 'DETAILS_EDIT', page: step(1), group: 'name', details: ana },
      script: `(() => {
        document.getElementById('page').append(${template}.getElementById('timeout').cloneNode(true))
        document.querySelector('dialog').showModal()
      })()`,
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
      name: 'edit-contact-wrong',
      view: {
        ...{ view: 'DETAILS_EDIT', page: step(1), group: 'contact', details: ana },
        kept: { email: 'ana@', phone: '12' },
        errors: [
          { input: 'email', code: 'email_invalid' },
          { input: 'phone', code: 'phone_invalid' },
        ],
      },
    },
    {
      name: 'edit-address',
      view: {
        ...{ view: 'DETAILS_EDIT', page: step(1), group: 'address' },
        details: {
          address: {
            ...ana.address,
            addline3: 'Los Paseos',
            city: 'San Juan',
            state: 'PR',
            zipcode: '00926',
          },
        },
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
      name: 'benefits-member',
      view: {
        ...{ view: 'BENEFITS', page, offername: 'Harbor Plus', slots: 0, back: 'overview', focus: 'legal' },
        ...{ cards: memberCards(say, cards), paths: { ...paths, canadd: false } },
      },
    },
    {
      name: 'benefits-member-adds',
      view: {
        ...{ view: 'BENEFITS', page, offername: 'Harbor Plus', slots: 3, waitingslots: 1, back: 'overview' },
        cards: [
          ...cards,
          {
            ...undated(cardOf(cards, 'telehealth')),
            ...{ name: 'savings', displayname: say('Emergency savings', 'Ahorro de emergencia') },
            ...{ status: { kind: 'waiting', dueon: '2026-12-20' }, selected: true },
          },
        ],
        paths: { ...paths, canadd: false },
      },
    },
    {
      name: 'plan',
      view: {
        ...{ view: 'PLAN', page: { ...page, step: { at: 2, of: 4 } }, chosen: 'plus' },
        plans: [
          planOf(say, cards.slice(0, 3), {
            ...{ offer: 'basic', displayname: 'Harbor Basic', slots: 1, included: 1 },
          }),
          planOf(say, cards.slice(0, 5), {
            ...{ offer: 'plus', displayname: 'Harbor Plus', slots: 2, included: 3 },
          }),
        ],
      },
    },
    {
      name: 'plan-wrong',
      view: {
        ...{ view: 'PLAN', page: { ...page, step: { at: 2, of: 4 } } },
        plans: [planOf(say, [], { offer: 'basic', displayname: 'Harbor Basic', slots: 0, included: 0 })],
        errors: [{ input: 'offername', code: 'offer_missing' }],
      },
    },
    {
      name: 'swap',
      view: {
        ...{ view: 'SWAP', page, effectiveon, lockedat, locked: false, hasfreeplace: true, choosable: true },
        ...{ held: cards.filter(card => ['dental', 'accident'].includes(card.name)), chosen: 'dental' },
        wanted: cardOf(cards, 'gym'),
        pending: [{ out: toGoing(cardOf(cards, 'vision')), in: toLine(cardOf(cards, 'legal')) }],
      },
    },
    {
      name: 'swap-locked',
      view: {
        ...{ view: 'SWAP', page, effectiveon, lockedat, locked: true, hasfreeplace: false, choosable: true },
        ...{ held: [], pending: [] },
      },
    },
    {
      name: 'swap-wrong',
      view: {
        ...{ view: 'SWAP', page, effectiveon, lockedat, locked: false, hasfreeplace: true, choosable: true },
        ...{ held: [cardOf(cards, 'dental')], pending: [], errors: [{ input: 'out', code: 'swap_missing' }] },
      },
    },
    {
      name: 'swap-leaving',
      view: {
        ...{ view: 'SWAP', page, effectiveon, lockedat, locked: true, hasfreeplace: true, choosable: true },
        ...{ held: [cardOf(cards, 'dental')], pending: [], leaving: '2026-11-30' },
      },
    },
    {
      name: 'swap-nothing',
      view: {
        ...{
          view: 'SWAP',
          page,
          effectiveon,
          lockedat,
          locked: false,
          hasfreeplace: false,
          choosable: false,
        },
        ...{ held: [cardOf(cards, 'dental')], pending: [] },
      },
    },
    {
      name: 'challenge-again',
      view: { view: 'CHALLENGE', page, action: '/register/beneficiaries', triesleft: 5, again: true },
    },
    {
      name: 'beneficiaries',
      view: {
        ...{ view: 'BENEFICIARIES', page },
        benefits: [
          {
            ...{ name: 'life', displayname: say('Term life', 'Seguro de vida a término') },
            ...{ people: namedIn(say), since: '2026-11-20', ismissing: false },
            proposal: { version: 3, people: namedIn(say).slice(0, 1) },
          },
          {
            ...{ name: 'accident', displayname: say('Accident coverage', 'Cobertura de accidentes') },
            ...{ people: [], ismissing: true, dueon: '2026-12-20' },
          },
        ],
      },
    },
    {
      name: 'beneficiaries-edit',
      view: {
        ...{ view: 'BENEFICIARIES_EDIT', page: step(2), name: 'life', maylater: true },
        ...{ back: 'benefits', goeson: true },
        displayname: say('Term life', 'Seguro de vida a término'),
        rows: rowsOf([]),
      },
    },
    {
      name: 'beneficiaries-edit-wrong',
      view: {
        ...{ view: 'BENEFICIARIES_EDIT', page, name: 'life', maylater: false },
        ...{ back: 'beneficiaries', goeson: false },
        displayname: say('Term life', 'Seguro de vida a término'),
        rows: rowsOf(namedIn(say)),
        errors: [
          { input: 'person1.share', code: 'primary_shares', count: 90 },
          { input: 'person2.dobmonth', code: 'beneficiary_dob', count: 2 },
        ],
      },
    },
    {
      name: 'swap-choose',
      view: {
        ...{ view: 'SWAP_CHOOSE', page, effectiveon, chosen: 'vision', out: cardOf(cards, 'dental') },
        available: cards.filter(card => ['vision', 'accident', 'gym'].includes(card.name)),
      },
    },
    {
      name: 'swap-choose-free-wrong',
      view: {
        ...{ view: 'SWAP_CHOOSE', page, effectiveon, errors: [{ input: 'in', code: 'swap_add_missing' }] },
        available: cards.filter(card => ['vision', 'gym'].includes(card.name)),
      },
    },
    {
      name: 'swap-confirm',
      view: {
        ...{ view: 'SWAP_CONFIRM', page, effectiveon, lockedat, consents: [] },
        pairs: [
          { out: toGoing(cardOf(cards, 'dental')), in: toLine(cardOf(cards, 'gym')) },
          { in: toLine(cardOf(cards, 'legal')) },
        ],
        naming: [
          {
            ...{ name: 'legal', displayname: cardOf(cards, 'legal').displayname, isrequired: true },
            ...{ standing: 'named', next: 'swap/confirm?replace.free1=legal' },
          },
        ],
      },
    },
    {
      name: 'swap-confirm-wrong',
      view: {
        ...{ view: 'SWAP_CONFIRM', page, effectiveon, lockedat, consents },
        pairs: [{ out: toGoing(cardOf(cards, 'dental')), in: toLine(cardOf(cards, 'accident')) }],
        errors: [{ input: 'consent.terms', code: 'consent_unconfirmed' }],
      },
    },
    {
      name: 'offer-change',
      view: { view: 'OFFER_CHANGE', page, offers, chosen: 'plus', locked: false, opensagainon: effectiveon },
    },
    {
      name: 'offer-change-pending',
      view: {
        ...{ view: 'OFFER_CHANGE', page, offers, locked: true, opensagainon: effectiveon },
        pending: { displayname: 'Harbor Basic', effectiveon },
        errors: [{ input: 'offername', code: 'offer_missing' }],
      },
    },
    {
      name: 'offer-change-leaving',
      view: {
        ...{ view: 'OFFER_CHANGE', page, offers, locked: true, opensagainon: effectiveon },
        leaving: '2026-11-30',
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
        dropsswap: true,
        ...{
          gained: waiting(lines.slice(0, 2), { from: effectiveon, by: '2026-12-31' }),
          lost: [],
          kept: standings.begun(lines.slice(2)),
        },
      },
    },
    {
      name: 'offer-confirm-wrong',
      view: {
        ...{ view: 'OFFER_CONFIRM', page, from: 'Harbor Plus', previewid: 'p2', consents },
        to: { offer: 'mini', displayname: 'Harbor Mini', direction: 'downgrade', effectiveon, reasons: [] },
        ...{ gained: [], lost: standings.ending(lines.slice(0, 2)), kept: [] },
        errors: [{ input: 'consent.terms', code: 'consent_unconfirmed' }],
      },
    },
    ...(
      [
        { name: 'cancel', benefits: standings.begun(lines) },
        {
          name: 'cancel-wrong',
          benefits: standings.begun(lines),
          errors: [{ input: 'effective', code: 'when_missing' }],
        },
        { name: 'cancel-before-start', benefits: lines, hasbegun: false },
        { name: 'cancel-pending', benefits: standings.ending(lines), pending: { on: '2026-11-30' } },
      ] as const
    ).map(({ name, ...state }): Example => {
      const days = { lastday: '2026-11-30', reinstatedays: 30 }
      return { name, view: { view: 'CANCEL', page, ...days, hasbegun: true, ...state } }
    }),
    {
      name: 'check-answers',
      view: {
        ...{ view: 'CHECK_ANSWERS', page: step(3), details: ana, offername: 'Harbor Plus' },
        ...{ benefits: waiting(lines, { by: '2026-12-20' }), choosable: true },
        consents: [recordsIn(locale), ...consents],
        naming: [
          {
            ...{ name: 'life', displayname: say('Term life', 'Seguro de vida a término') },
            ...{ isrequired: true, standing: 'here', people: namedIn(say) },
          },
          {
            ...{ name: 'accident', displayname: say('Accident coverage', 'Cobertura de accidentes') },
            ...{ isrequired: false, standing: 'nobody' },
          },
        ],
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
          told: { what: 'enrolled' },
          ...redirect,
        },
        completedat: Date.UTC(2026, 10, 20, 17, 30),
        benefits: standings.onewaits(lines),
        todo: {
          missing: [],
          agree: [{ displayname: lines[1]?.displayname ?? '', dueon: '2026-12-20' }],
          proposed: [],
        },
        copyurl: '/register/copy/BE-7K2M-94QD',
        ...(shell === 'frame' ? { resulttoken: 'result-of-the-fixture' } : {}),
      },
    },
    ...tellings.map(({ name, outcome, told, lines: standing, undo }): Example => {
      const benefits = standings[standing](lines)
      const view = { view: 'DONE', page, outcome, reference: 'BE-5N3T-66KQ', told, benefits } as const
      const done = { ...view, completedat: Date.UTC(2026, 10, 20, 17, 30), ...redirect }
      return { name: `done-${name}`, view: undo ? { ...done, undountil: lockedat } : done }
    }),
    {
      name: 'already-enrolled',
      view: {
        ...{ view: 'ALREADY_ENROLLED', page, offername: 'Harbor Plus', ...redirect },
        benefits: standings.onewaits(lines),
        ...{
          paths: { canadd: true, canswap: true, canchangeoffer: true, cancancel: true, canname: true },
          todo: {
            missing: [{ displayname: say('Term life', 'Seguro de vida a término'), dueon: '2026-12-20' }],
            agree: [{ displayname: cardOf(cards, 'accident').displayname, dueon: '2026-12-20' }],
            proposed: [],
          },
          suggested: ['contact'],
          copies: [
            { reference: 'BE-7K2M-94QD', on: '2026-11-20', address: '/register/copy/BE-7K2M-94QD' },
            { reference: 'BE-2V8X-01PB', on: '2026-03-01', address: '/register/copy/BE-2V8X-01PB' },
          ],
        },
      },
    },
    {
      name: 'already-enrolled-ineligible',
      view: {
        ...{ view: 'ALREADY_ENROLLED', page, offername: 'Harbor Plus', suggested: [] },
        benefits: standings.lastends(lines),
        paths: { canadd: false, canswap: true, canchangeoffer: true, cancancel: true },
        ineligible: {
          reasons: [say('This plan is for Florida.', 'Este plan es para Florida.')],
        },
      },
    },
    {
      name: 'already-enrolled-leaving',
      view: {
        ...{ view: 'ALREADY_ENROLLED', page, offername: 'Harbor Plus', suggested: [] },
        leaving: '2026-11-30',
        benefits: standings.ending(lines),
        paths: { canadd: false, canswap: false, canchangeoffer: false, cancancel: true, isleaving: true },
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
    { name: 'no-benefits-closed', view: { view: 'NO_BENEFITS', page, reasons: [], ...redirect } },
    {
      name: 'link-ended',
      view: { view: 'LINK_ENDED', page: { ...left, partner: { displayname: '' }, help: {} }, kind: 'link' },
    },
    { name: 'challenge-failed', view: { view: 'LINK_ENDED', page: left, kind: 'challenge' } },
    { name: 'challenge-limit', view: { view: 'LINK_ENDED', page: left, kind: 'challengelimit' } },
    { name: 'page-closed', view: { view: 'LINK_ENDED', page: left, kind: 'closed' } },
    { name: 'signed-out', view: { view: 'LINK_ENDED', page: left, kind: 'signedout' } },
    { name: 'session-ended', view: { view: 'LINK_ENDED', page: left, kind: 'session', ...redirect } },
    {
      name: 'problem',
      view: { view: 'PROBLEM', page, kind: 'internal', requestid: lead, retry: '/register' },
    },
    { name: 'problem-notfound', view: { view: 'PROBLEM', page, kind: 'notfound', requestid: lead } },
    ...(['busy', 'foreign', 'unreadable'] as const).map(
      (kind): Example => ({
        name: `problem-${kind}`,
        view: { view: 'PROBLEM', page, kind, requestid: lead, retry: '/register' },
      }),
    ),
    ...(shell === 'frame'
      ? [{ name: 'frame', view: { view: 'FRAME', page, origins: [], sessionurl: '/embed/session' } } as const]
      : []),
  ]
}

/** These lines, with the first waiting for a beneficiary. */
function waiting(
  [first, ...others]: readonly BenefitLine[],
  waits: NonNullable<BenefitLine['waits']>,
): readonly BenefitLine[] {
  if (!first) return []
  const { startson: _, ...line } = first
  return [{ ...line, waits }, ...others]
}

/** The words and panels that a view carries for its script. */
const template = "document.getElementById('texts').content"
