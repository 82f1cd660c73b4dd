import { readFileSync } from 'node:fs'
import type { CreateUser, LinkTokenRequest, Prefill } from '../../client/src/index.ts'
import { ana, backTo, type Rig, startRig } from './rig.ts'
import { newVisitor, recordsAgreed, type Shown, type Visitor } from './visitor.ts'

/** One view in a state that the rules themselves have made, as a browser without script got it. */
export type State = {
  readonly name: string
  readonly view: string
  readonly html: string
  /** What the page's script would have added by now, as source to be run in the page. */
  readonly script?: string | undefined
}

/** That of the demo, with a benefit that needs a beneficiary, and a plan that is closed. */
function catalogue(): string {
  const demo = readFileSync(new URL('../../service/assets/demo-catalogue.yaml', import.meta.url), 'utf8')
  return `${demo.replace('beneficiaries: optional', 'beneficiaries: required')}
  - offer: gone
    displayname: { en: Harvest, es: Cosecha }
    description: { en: For the season., es: Para la temporada. }
    rank: 40
    fixed: [accident]
    selectable: [dental]
    slots: 1
    period: calendarmonth
    cutoffhours: 24
    fee: { cents: 150, per: month }
    firstmonth: daily
    availability: { until: '2027-01-31' }
    rules: []
`
}

/** The noon at which `startRig` has to start for the states. */
export const statesStartAt = Date.parse('2027-03-10T17:00:00Z')

type Member = Partial<Omit<CreateUser, 'userid'>>
/** What differs from the usual person; `undefined` was not sent. */
type Prefilled = { readonly [Field in keyof Prefill]?: Prefill[Field] | undefined }
type Step = string | readonly [path: string, fields?: Parameters<Visitor['post']>[1]]

/** How a state is reached: a person, a session of a link, and requests. */
type Way = {
  readonly client: Rig['partner']['client']
  readonly userid: string
  link(more?: Partial<LinkTokenRequest>): Promise<string>
  /** A session of a new link, in the language of the states. */
  session(more?: Partial<LinkTokenRequest>): Promise<Visitor>
  newcomer(prefill?: Prefilled | 'unknown', more?: Partial<LinkTokenRequest>): Promise<Visitor>
  member(has?: Member, more?: Partial<LinkTokenRequest>): Promise<Visitor>
  /** Asks for each path, or posts to it; the last answer. */
  walk(visitor: Visitor, ...steps: readonly Step[]): Promise<Shown>
}

type Reach = (way: Way) => Promise<Shown | { readonly html: string }>

const premier = { offername: 'premier' }
const lost = { zipcode: '05401', addline1: '1 Church St', city: 'Burlington', state: 'VT' }
const consent = { 'consent.life': '2026-01', 'consent.identity': '2026-01' }
const person = {
  'person1.name': 'Luis Ruiz',
  'person1.relationship': 'spouse',
  'person1.contact': '305-555-0177',
}
const agreed = { ...recordsAgreed, ...consent }
const onPlus: Member = { offername: 'plus', benefits: ['dental', 'critical'] }
const ahead: Member = { ...onPlus, effectivedate: '2027-04-01' }
const swapChoice = { 'replace.dental': 'vision' }
const swapped: readonly Step[] = [
  `swap/confirm?${new URLSearchParams(swapChoice)}`,
  ['swap/confirm', { ...swapChoice, ...agreed }],
]
const moved = (offername: string): readonly Step[] => [
  `offer/confirm?offername=${offername}`,
  ['offer/confirm', { offername, ...agreed }],
]
const cancelled = (effective: string): readonly Step[] => ['cancel', ['cancel', { effective }]]

/** A state of somebody who registers. */
const asNewcomer =
  (prefill: Prefilled | 'unknown', ...steps: readonly Step[]): Reach =>
  async way =>
    way.walk(await way.newcomer(prefill), ...steps)

/** A state of a member. */
const asMember =
  (has: Member, ...steps: readonly Step[]): Reach =>
  async way =>
    way.walk(await way.member(has), ...steps)

const family = { offername: 'starter' }
const grace = namedAs('Grace', 'spouse', '1988')
const leo = namedAs('Leo', 'child', '2014')
const others = [grace, leo, namedAs('Robin', 'domesticpartner', '1987'), namedAs('Mara', 'child', '1990')]
function namedAs(firstname: string, relationship: string, dobyear: string): Record<string, string> {
  const fields = { firstname, lastname: 'Ruiz', relationship, dobmonth: '5', dobday: '4', dobyear }
  return Object.fromEntries(Object.entries(fields).map(([field, value]) => [`person1.${field}`, value]))
}
const boxes = (html: string) =>
  [...html.matchAll(/name="cover\.dental" value="([^"]+)"/g)].map(([, id = '']) => id)

/** Somebody who registers at their benefits, once they have named people. */
async function withFamily(way: Way, people: readonly Record<string, string>[] = [grace, leo]) {
  const visitor = await way.newcomer({}, family)
  let shown = await way.walk(visitor, 'benefits')
  for (const one of people)
    shown = await way.walk(
      visitor,
      ['benefits', { benefit: ['dental'], 'cover.dental': boxes(shown.html), add: 'dental' }],
      ['family/dental', one],
    )
  return { visitor, shown, ids: boxes(shown.html) }
}
/** A member with a family, whom the benefit covers or not. */
async function memberWithFamily(way: Way, isCovered: boolean) {
  const { visitor, ids } = await withFamily(way)
  await way.walk(
    visitor,
    ['benefits', { benefit: ['dental'], 'cover.dental': isCovered ? ids : [] }],
    ['enrol', agreed],
    'cover/dental',
  )
  return { visitor, ids }
}
const planned: readonly Step[] = [['cover/dental/confirm']]

const template = "document.getElementById('texts').content"

const reached: Readonly<Record<string, Reach>> = {
  open: async way => {
    await way.newcomer()
    return newVisitor('').get(await way.link())
  },
  ...Object.fromEntries(
    (['benefits', 'swap', 'offerchange'] as const).map(purpose => [
      `open-${purpose}`,
      async (way: Way) => {
        await way.member()
        return newVisitor('').get(await way.link({ purpose }))
      },
    ]),
  ),
  challenge: async way => way.walk(await way.newcomer({}, { delivery: 'email' }), 'challenge'),
  'challenge-wrong': async way =>
    way.walk(await way.newcomer({}, { delivery: 'sms' }), [
      'challenge',
      { dobmonth: '3', dobday: '28', dobyear: '1990' },
    ]),
  'details-review': asNewcomer({ address: { ...ana.address, zipcode: '331311234' } }, 'details'),
  'details-review-newer': async way => {
    const visitor = await way.newcomer()
    await way.walk(visitor, 'details/contact', ['details/contact', { email: 'ana@home.example', phone: '' }])
    await way.client.prefillUser({ userid: way.userid, ...ana, email: 'ana@newmail.example' })
    return way.walk(visitor, 'details')
  },
  'details-review-missing': asNewcomer({ dob: undefined, address: undefined }, 'details'),
  'details-review-nowhere': asNewcomer('unknown', 'details'),
  'details-review-comeback': async way => {
    await way.member(onPlus)
    await way.client.cancelUser({ userid: way.userid, effective: 'immediate' })
    return way.walk(await way.session(), 'details')
  },
  'details-review-lost': asMember(onPlus, 'details/address', ['details/address', lost]),
  'edit-name': asNewcomer({}, 'details/name'),
  'edit-name-wrong': asNewcomer({}, 'details/name', ['details/name', { firstname: '', lastname: 'Ruiz' }]),
  'edit-name-offline': asNewcomer({}, 'details/name'),
  'edit-name-timeout': asNewcomer({}, 'details/name'),
  'edit-dob': asNewcomer({}, 'details/dob'),
  'edit-dob-wrong': asNewcomer({}, 'details/dob', [
    'details/dob',
    { dobmonth: '2', dobday: '30', dobyear: '1990' },
  ]),
  'edit-contact': async way => {
    const visitor = await way.member()
    await way.client.prefillUser({ userid: way.userid, ...ana, email: 'ana@newmail.example' }).catch(() => 0)
    return way.walk(visitor, 'details/contact')
  },
  'edit-contact-wrong': asNewcomer({}, 'details/contact', [
    'details/contact',
    { email: 'ana@', phone: '12' },
  ]),
  'edit-address': asNewcomer(
    { address: { ...ana.address, addline3: 'Los Paseos', city: 'San Juan', state: 'PR', zipcode: '00926' } },
    'details/address',
  ),
  'edit-address-member': asMember({}, 'details/address'),
  'edit-address-wrong': asNewcomer({}, 'details/address', [
    'details/address',
    { addline1: '1200 Brickell Ave', city: 'Miami', state: '', zipcode: '3313' },
  ]),
  'edit-gender': asNewcomer({}, 'details/gender'),
  plan: asNewcomer({}, 'plan'),
  'plan-wrong': asNewcomer({}, 'plan', ['plan', {}]),
  benefits: async way =>
    way.walk(
      await way.newcomer(
        {},
        { offername: 'plus', deeplinkdata: 'productname=critical&producttype=dollar&redirectto=enrol' },
      ),
      'benefits',
    ),
  'benefits-plain': async way => way.walk(await way.newcomer({}, { offername: 'starter' }), 'benefits'),
  'benefits-wrong': async way =>
    way.walk(await way.newcomer({}, { offername: 'starter' }), 'benefits', [
      'benefits',
      { benefit: ['dental', 'vision', 'legal'] },
    ]),
  'benefits-refused': async way =>
    way.walk(await way.newcomer({ dob: '1950-01-01' }, { offername: 'starter' }), 'benefits'),
  'benefits-member': async way =>
    way.walk(
      await way.member(
        { offername: 'starter', benefits: ['dental', 'identity'] },
        { deeplinkdata: 'productname=income&producttype=dollar&redirectto=manage' },
      ),
      'benefits',
    ),
  'benefits-member-adds': async way => {
    const visitor = await way.member({ offername: 'plus', benefits: ['dental', 'identity'] })
    await way.walk(visitor, ...swapped)
    return way.walk(visitor, 'benefits')
  },
  'benefits-member-leaves': asMember(onPlus, ...moved('starter'), 'benefits'),
  check: async way =>
    way.walk(await way.newcomer({}, { offername: 'plus' }), 'benefits', [
      'benefits',
      { benefit: ['dental', 'critical', 'identity'] },
    ]),
  'check-wrong': async way =>
    way.walk(
      await way.newcomer({}, { offername: 'plus' }),
      'benefits',
      ['benefits', { benefit: ['dental', 'identity'] }],
      ['enrol', recordsAgreed],
    ),
  'check-changed': async way => {
    const visitor = await way.newcomer({}, { offername: 'plus' })
    await way.walk(visitor, 'benefits', ['benefits', { benefit: ['dental'] }])
    await way.client.prefillUser({ userid: way.userid, ...ana, lastname: 'Ruiz' })
    return way.walk(visitor, ['enrol', agreed])
  },
  'benefits-family': async way => (await withFamily(way, others)).shown,
  'benefits-family-wrong': async way => {
    const { visitor, ids } = await withFamily(way, others)
    return way.walk(visitor, ['benefits', { benefit: ['dental'], 'cover.dental': ids }])
  },
  'benefits-family-member': async way => {
    const { visitor } = await memberWithFamily(way, true)
    return way.walk(visitor, 'benefits')
  },
  'family-edit': async way => way.walk(await way.newcomer({}, family), 'family/dental'),
  'family-edit-wrong': async way =>
    way.walk(await way.newcomer({}, family), 'family/dental', [
      'family/dental',
      { ...namedAs('', '', '88'), 'person1.dobmonth': '2' },
    ]),
  'family-edit-known': async way => {
    const { visitor, ids } = await withFamily(way)
    return way.walk(visitor, ['benefits', { edit: `dental ${ids[0]}`, 'cover.dental': ids }])
  },
  'check-family': async way => {
    const { visitor, ids } = await withFamily(way)
    return way.walk(visitor, ['benefits', { benefit: ['dental'], 'cover.dental': ids }])
  },
  'done-family': async way => {
    const { visitor } = await memberWithFamily(way, true)
    return way.walk(visitor, 'done')
  },
  cover: async way => {
    const { visitor } = await memberWithFamily(way, false)
    return way.walk(visitor, 'cover/dental')
  },
  'cover-confirm': async way => {
    const { visitor, ids } = await memberWithFamily(way, false)
    return way.walk(visitor, ['cover/dental', { 'cover.dental': ids }])
  },
  'cover-planned': async way => {
    const { visitor, ids } = await memberWithFamily(way, true)
    return way.walk(
      visitor,
      ['cover/dental', { 'cover.dental': ids.slice(0, 1) }],
      ...planned,
      'cover/dental',
    )
  },
  'cover-leaving': async way => {
    const { visitor } = await memberWithFamily(way, true)
    return way.walk(visitor, ...cancelled('endofperiod'), 'cover/dental')
  },
  'cover-locked': async way => {
    const { visitor } = await memberWithFamily(way, true)
    return way.walk(visitor, 'cover/dental')
  },
  'done-cover': async way => {
    const { visitor, ids } = await memberWithFamily(way, false)
    return way.walk(visitor, ['cover/dental', { 'cover.dental': ids }], ...planned)
  },
  'done-undone-cover': async way => {
    const { visitor, ids } = await memberWithFamily(way, false)
    const steps: readonly Step[] = [['cover/dental', { 'cover.dental': ids }], ...planned]
    return way.walk(visitor, ...steps, 'cover/dental', ['cover/dental/undo'])
  },
  'overview-family': async way => {
    const { visitor, ids } = await memberWithFamily(way, false)
    const steps: readonly Step[] = [['cover/dental', { 'cover.dental': ids }], ...planned]
    return way.walk(visitor, ...steps, 'overview')
  },
  beneficiaries: asMember({ offername: 'premier' }, 'beneficiaries'),
  'beneficiaries-named': asMember(
    premier,
    'beneficiaries/life',
    ['beneficiaries/life', { ...person, 'person1.share': '100' }],
    'beneficiaries',
  ),
  'beneficiaries-edit': asMember(premier, 'beneficiaries/life'),
  'beneficiaries-edit-wrong': asMember(
    premier,
    'beneficiaries/life',
    ['beneficiaries/life', { ...person, add: 'contingent' }],
    ['beneficiaries/life', { ...person, 'person1.share': '90', 'person2.name': 'Sofía', rows: '2' }],
  ),
  'beneficiaries-next': async way =>
    way.walk(
      await way.newcomer({}, premier),
      'benefits',
      ['benefits', { benefit: ['dental'] }],
      ['enrol', agreed],
    ),
  swap: asMember(onPlus, 'swap?in=vision'),
  'swap-more': asMember(onPlus, ...swapped, 'swap?more=1'),
  'swap-planned': asMember(onPlus, ...swapped, 'swap'),
  'swap-wrong': asMember(onPlus, 'swap', ['swap', {}]),
  'swap-leaving': asMember(onPlus, ...cancelled('endofperiod'), 'swap'),
  'swap-locked': asMember(onPlus, 'swap'),
  'swap-confirm': asMember(onPlus, 'swap/confirm?replace.dental=income'),
  'swap-confirm-free': asMember(
    { offername: 'plus', benefits: ['dental'] },
    'swap/confirm?replace.free1=vision',
  ),
  'swap-confirm-wrong': asMember(onPlus, 'swap/confirm?replace.dental=identity', [
    'swap/confirm',
    { 'replace.dental': 'identity' },
  ]),
  offer: asMember(onPlus, 'offer'),
  'offer-wrong': asMember(onPlus, ...moved('starter'), 'offer', ['offer', {}]),
  'offer-planned': asMember(onPlus, ...moved('starter'), 'offer'),
  'offer-locked': asMember(onPlus, 'offer'),
  'offer-leaving': asMember(onPlus, ...cancelled('endofperiod'), 'offer'),
  'offer-confirm-up': asMember(onPlus, 'offer/confirm?offername=premier'),
  'offer-confirm-down': asMember(onPlus, ...swapped, 'offer/confirm?offername=starter'),
  'offer-confirm-wrong': asMember(onPlus, 'offer/confirm?offername=premier', ['offer/confirm', premier]),
  cancel: asMember(onPlus, ...swapped, 'cancel'),
  'cancel-wrong': asMember(onPlus, 'cancel', ['cancel', {}]),
  'cancel-before-start': asMember(ahead, 'cancel'),
  'cancel-planned': asMember(onPlus, ...cancelled('endofperiod'), 'cancel'),
  done: async way =>
    way.walk(
      await way.newcomer({}, { offername: 'plus', redirecturl: backTo }),
      'benefits',
      ['benefits', { benefit: ['dental', 'critical'] }],
      ['enrol', agreed],
    ),
  'done-waits': asMember(
    premier,
    'benefits',
    ['benefits', { benefit: ['dental'] }],
    ['enrol', agreed],
    'done',
  ),
  'done-added': asMember(
    { offername: 'plus', benefits: [] },
    'benefits',
    ['benefits', { benefit: ['vision', 'dental'] }],
    ['enrol', agreed],
  ),
  'done-added-from': asMember(
    { ...ahead, benefits: ['vision'] },
    'benefits',
    ['benefits', { benefit: ['dental'] }],
    ['enrol', agreed],
  ),
  'done-upgraded': asMember({ offername: 'starter' }, ...moved('plus')),
  'done-upgraded-from': asMember({ ...ahead, offername: 'starter', benefits: ['dental'] }, ...moved('plus')),
  'done-downgraded-from': asMember(onPlus, ...moved('starter')),
  'done-swapped-from': asMember(onPlus, ...swapped),
  'done-cancelled': asMember(onPlus, ...cancelled('immediate')),
  'done-cancelled-neverbegun': asMember(ahead, ...cancelled('immediate')),
  'done-cancelled-from': asMember(onPlus, ...swapped, ...cancelled('endofperiod')),
  'done-undone-swap': asMember(onPlus, ...swapped, 'swap', ['swap/undo']),
  'done-undone-offer': asMember(onPlus, ...moved('starter'), 'offer', ['offer/undo']),
  'done-kept': asMember(onPlus, ...cancelled('endofperiod'), 'overview', ['cancel/undo']),
  'done-reinstated': async way => {
    await way.member(onPlus)
    await way.client.cancelUser({ userid: way.userid, effective: 'immediate' })
    return way.walk(await way.session(), 'details', ['comeback'])
  },
  overview: asMember(onPlus, 'overview'),
  'overview-planned': asMember(
    { ...onPlus, benefits: ['dental', 'vision', 'identity'] },
    ...moved('starter'),
    'overview',
  ),
  'overview-leaving': asMember(onPlus, ...cancelled('endofperiod'), 'overview'),
  'overview-misfit': asMember(
    premier,
    'details/address',
    ['details/address', { ...lost, zipcode: '10001', state: 'NY', city: 'New York' }],
    'overview',
  ),
  'no-benefits': async way => way.walk(await way.newcomer({ dob: '2015-05-05' }), 'plan'),
  'no-benefits-closed': async way => way.walk(await way.newcomer({}, { offername: 'gone' }), 'none'),
  'link-ended': async way => {
    await way.newcomer()
    return newVisitor('').get(`${(await way.link()).slice(0, -6)}000000`)
  },
  'challenge-failed': async way => {
    const visitor = await way.newcomer({}, { delivery: 'email' })
    const wrong: Step = ['challenge', { dobmonth: '3', dobday: '28', dobyear: '1990' }]
    return way.walk(visitor, wrong, wrong, wrong, wrong, wrong)
  },
  'challenge-limit': async way => {
    const wrong: Step = ['challenge', { dobmonth: '3', dobday: '28', dobyear: '1990' }]
    await way.walk(await way.newcomer({}, { delivery: 'email' }), wrong, wrong, wrong, wrong, wrong)
    return way.walk(await way.session({ delivery: 'email' }), wrong, wrong, wrong, wrong, wrong)
  },
  'page-closed': async way => {
    const visitor = await way.newcomer()
    await way.client.eraseUser({ userid: way.userid })
    return way.walk(visitor, 'details')
  },
  'signed-out': async way => way.walk(await way.newcomer(), 'details', ['leave']),
  'problem-notfound': async way => way.walk(await way.newcomer(), 'nowhere'),
  'problem-foreign': async way =>
    (await way.newcomer()).post('/register/details', {}, { origin: 'https://elsewhere.example' }),
  'problem-unreadable': async way => {
    const response = await (await way.newcomer()).send('/register/details', {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: '?',
    })
    return { html: await response.text() }
  },
  frame: async way => {
    await way.newcomer()
    return (await way.session()).get(`/embed/frame?partner=${framePartner}`)
  },
}

const scripts: Readonly<Record<string, string>> = {
  'edit-name-offline': `document.getElementById('main').prepend(${template}.getElementById('offline').cloneNode(true))`,
  'edit-name-timeout': `(() => {
    document.getElementById('page').append(${template}.getElementById('timeout').cloneNode(true))
    document.querySelector('dialog').showModal()
  })()`,
}

let framePartner = ''

/** What was drawn of each language: the same for every file, as a drawing has no address of the service in it. */
const drawn = { en: new Map<string, State>(), es: new Map<string, State>() }

/**
 * Every view in every state worth seeing, in one language, or those that are wanted: each reached from a link by requests, so that
 * none can be shown that cannot occur. It is drawn once for all files of a worker, by a service of its own. Those whose name ends
 * in `-locked` are of the last hours of a month, in which nothing can be planned.
 */
export async function statesIn(
  locale: 'en' | 'es',
  isWanted: (name: string) => boolean = () => true,
): Promise<readonly State[]> {
  const wanted = Object.entries(reached).filter(([name]) => isWanted(name))
  const missing = wanted.filter(([name]) => !drawn[locale].has(name))
  if (missing.length > 0) {
    const rig = await startRig({ startAt: statesStartAt, catalogue: catalogue() })
    const late = await rig.running.newPartner({ name: 'Harbor Rides' })
    await late.client.advanceClock({ advanceto: '2027-03-31T17:00:00.000Z' })
    framePartner = rig.partner.partnerId
    for (const [name, reach] of missing) {
      const { client } = name.endsWith('-locked') ? late : rig.partner
      const { html } = await reach(wayOf(rig, client, { userid: `${locale}-${name}`, locale }))
      const [, view = ''] = /data-view="(\w+)"/.exec(html) ?? []
      drawn[locale].set(name, { name, view, html, script: scripts[name] })
    }
    await rig.close()
  }
  return wanted.flatMap(([name]) => drawn[locale].get(name) ?? [])
}

function wayOf(
  rig: Rig,
  client: Rig['partner']['client'],
  { userid, locale }: { readonly userid: string; readonly locale: 'en' | 'es' },
): Way {
  const link: Way['link'] = async (more = {}) => {
    const { linkurl } = await client.createLinkToken({ userid, locale, ...more })
    return linkurl ?? ''
  }
  const session: Way['session'] = async (more = {}) => {
    const visitor = newVisitor(rig.service)
    await visitor.post(await link(more))
    return visitor
  }
  return {
    client,
    userid,
    link,
    session,
    async newcomer(prefill = {}, more = {}) {
      if (prefill !== 'unknown') await client.prefillUser({ userid, ...ana, ...prefill } as Prefill)
      return session(more)
    },
    async member(has = {}, more = {}) {
      await client.createUser({ userid, ...ana, offername: 'plus', ...has })
      return session(more)
    },
    async walk(visitor, ...steps) {
      let shown: Shown | undefined
      for (const step of steps)
        shown =
          typeof step === 'string'
            ? await visitor.get(`/register/${step}`)
            : await visitor.post(`/register/${step[0]}`, step[1] ?? {})
      if (!shown) throw new Error('a state takes a step')
      return shown
    },
  }
}
