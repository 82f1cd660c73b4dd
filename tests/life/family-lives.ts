import type { Client } from '../../client/src/index.ts'
import { ada } from '../rig.ts'
import type { Random } from '../seeds.ts'
import type { openCorrections } from './corrections.ts'
import { CAME, type Facts, maxAges } from './family-months-recount.ts'

type Covering = keyof typeof maxAges
/** Whom each benefit may cover, and how many children. */
const limits: Record<Covering, { of: readonly string[]; most: number }> = {
  dental: { of: ['spouse', 'domesticpartner', 'child'], most: 3 },
  hospital: { of: ['spouse', 'child'], most: 2 },
  eyes: { of: ['child'], most: 9 },
}
const covering = Object.keys(limits) as Covering[]

/** Children of every age, many of them about to reach one that ends some cover, one of these on February 29. */
const births = [
  ...['2001-12-31', '2002-01-20', '2002-01-31', '2002-02-01', '2002-02-28', '2002-03-01', '2002-03-15'],
  ...['2008-01-25', '2008-02-01', '2008-02-29', '2008-03-01', '2010-01-31', '2010-02-28', '2010-03-31'],
  ...['2012-05-04', '2016-02-29', '2019-05-04', '2023-08-30', '1999-04-05', '2000-11-30'],
]

type Window = {
  readonly name: string
  readonly since: string
  until: string | null
  readonly isBack: boolean
  /** A swap brings it, and a cancel before would drop that. */
  readonly isSwap: boolean
}

/** What was done about a family, written down as it is done. */
export type Family = Omit<Facts, 'windows' | 'named' | 'gone'> & {
  windows: Window[]
  named: { name: string; since: string; who: number[] }[]
  readonly gone: { name: string; person: number; last: string }[]
  /** The ids of the people, once somebody asked for them. */
  ids: readonly string[] | undefined
  state: 'active' | 'cancelled' | 'erased'
  /** What the last cancel ends, and on which day. */
  closed: { readonly windows: readonly Window[]; readonly on: string }
}

/** A family in the offer with some picks, and whom of it each benefit covers; a former system's members with dates of before. */
export function newFamily(userid: string, random: Random): Family {
  const isImported = random(5) < 3
  const since = isImported
    ? dayAfter(CAME, -draw(random, [0, 3, 12, 40, 400, 900]))
    : dayAfter(CAME, draw(random, [0, 0, 0, 0, 0, 3, 12, 30]))
  const spouses = ['spouse', 'spouse', 'domesticpartner', undefined, undefined] as const
  const spouse = draw(random, spouses)
  const people: Facts['people'] = [
    ...(spouse ? [{ relationship: spouse, dob: '1988-02-29' }] : []),
    ...Array.from({ length: random(4) }, () => ({
      relationship: 'child' as const,
      dob: draw(random, births),
    })),
  ]
  const offer = draw(random, ['low', 'low', 'top'])
  const picks = ['hospital', 'eyes', 'solo'].filter(() => random(2) === 0)
  const family: Family = {
    ...{ userid, offer, isImported, people, gone: [], named: [], ids: undefined },
    windows: [windowOf(offer, since)],
    ...{ state: 'active', closed: { windows: [], on: '' } },
  }
  for (const name of ['dental', ...picks]) {
    const from = isImported ? dayAfter(since, draw(random, [0, 0, 2])) : since
    family.windows.push(windowOf(name, from))
    if (!isCovering(name)) continue
    // Whoever moves in may be older than the rules admit.
    const who = choose(family, name, isImported ? '1900-01-01' : from, random)
    const later = isImported && since < '2027-12-31' && who.length > 1 && random(3) === 0
    family.named.push({ name, since: from, who: later ? who.slice(0, -1) : who })
    if (later) family.named.push({ name, since: dayAfter(from, 20), who })
  }
  return family
}

function windowOf(name: string, since: string, is: { isBack?: true; isSwap?: true } = {}): Window {
  return { name, since, until: null, isBack: false, isSwap: false, ...is }
}

function isCovering(name: string): name is Covering {
  return name in limits
}

/** Some of the people whom a benefit may newly cover from a day on. */
function choose(
  { people, gone }: Pick<Family, 'people' | 'gone'>,
  name: Covering,
  day: string,
  random: Random,
): number[] {
  const { of, most } = limits[name]
  let children = 0
  return people.flatMap(({ relationship, dob }, person) => {
    const isChild = relationship === 'child'
    const isOut = gone.some(one => one.name === name && one.person === person)
    if (!of.includes(relationship) || isOut || random(3) === 0) return []
    if (isChild && (birthday(dob, maxAges[name]) <= day || ++children > most)) return []
    return [person]
  })
}

/** The family as a line of a file that moves it in. */
export function importLine({ userid, offer, people, windows, named }: Family): string {
  const [first, ...benefits] = windows
  const dependants = people.map((person, nth) => ({
    ...{ ...person, firstname: 'Kim', lastname: 'King' },
    benefits: covering.flatMap(name => {
      const from = named.find(one => one.name === name && one.who.includes(nth))
      return from ? [{ name, startson: from.since }] : []
    }),
  }))
  return JSON.stringify({
    ...{ userid, ...ada, state: 'FL', offername: offer, offersince: first?.since, dependants },
    benefits: benefits.map(one => ({ name: one.name, startson: one.since })),
  })
}

/** The family as a line of a bulk that enrols it. */
export function createLine({ userid, offer, people, windows, named }: Family) {
  const [first, , ...picks] = windows
  const dependants = people.map((person, nth) => ({
    ...{ ...person, firstname: 'Kim', lastname: 'King' },
    benefits: named.filter(({ who }) => who.includes(nth)).map(({ name }) => ({ name })),
  }))
  return {
    operation: 'create' as const,
    body: {
      ...{ userid, ...ada, state: 'FL' as const, offername: offer, effectivedate: first?.since ?? '' },
      ...{ dependants, benefits: picks.map(({ name }) => name) },
    },
  }
}

type Act = (family: Family, today: string) => Promise<boolean>

/** What can be done about a family: each does it and writes it down, or says that it is not possible now. */
export function openActs(
  client: Client,
  { correct, random }: { readonly correct: ReturnType<typeof openCorrections>; readonly random: Random },
): Readonly<Record<string, Act>> {
  const live = (family: Family) => family.windows.filter(one => one.until === null)
  const idsOf = async (family: Family, who: readonly number[]) => {
    const { userid } = family
    family.ids ??= (await client.getDependants({ userid })).dependants.map(one => one.dependantid)
    return who.map(nth => family.ids?.[nth] ?? '')
  }
  /** A benefit for families that is held, and who is named for it last. */
  const held = (family: Family, isFit: (one: Window) => boolean) => {
    const found = live(family).filter(one => isCovering(one.name) && isFit(one))
    return found.length === 0 ? undefined : (draw(random, found) as Window & { readonly name: Covering })
  }
  /** A cancel or an erasure drops what is planned; a family with a benefit that begins later is left alone. */
  const end = (family: Family, today: string, until: string): boolean => {
    if (family.windows.some(one => one.since > today && !one.isSwap)) return false
    const boundary = firstOfNext(today)
    const isDropped = family.windows.some(one => one.since > today)
    family.windows = family.windows.filter(one => one.since <= today)
    family.named = family.named.filter(one => one.since <= today)
    for (const one of family.windows)
      if (isDropped && one.name === 'hospital' && one.until === dayAfter(boundary, -1)) one.until = null
    const windows = live(family)
    for (const one of windows) one.until = until
    family.closed = { windows, on: until }
    return true
  }
  return {
    async cover(family, today) {
      const benefit = held(family, one => one.since <= today || !one.isSwap)
      if (!benefit || family.state !== 'active') return false
      const { name } = benefit
      const since = benefit.since > today ? benefit.since : firstOfNext(today)
      const who = choose(family, name, since, random)
      family.named.push({ name, since, who })
      const dependants = await idsOf(family, who)
      await client.changeCover({ userid: family.userid, name, dependants, previewonly: false })
      return true
    },
    async callOff(family, today) {
      const benefit = held(family, one => one.since <= today)
      if (!benefit || family.state !== 'active') return false
      const { name } = benefit
      const { userid } = family
      const isPlanned = family.named.some(one => one.name === name && one.since > today)
      const who = choose(family, name, firstOfNext(today), random)
      family.named = family.named.filter(one => one.name !== name || one.since <= today)
      if (!isPlanned)
        await client.changeCover({ userid, name, dependants: await idsOf(family, who), previewonly: false })
      await client.undoCover({ userid, name })
      return true
    },
    async swap(family, today) {
      const hospital = live(family).find(one => one.name === 'hospital' && one.since <= today)
      const isFit = hospital && !live(family).some(one => one.name === 'eyes')
      if (!isFit || family.state !== 'active') return false
      const since = firstOfNext(today)
      const who = choose(family, 'eyes', since, random)
      hospital.until = dayAfter(since, -1)
      family.windows.push(windowOf('eyes', since, { isSwap: true }))
      family.named.push({ name: 'eyes', since, who })
      const covered = [{ name: 'eyes', dependants: await idsOf(family, who) }]
      await client.swapBenefits({ userid: family.userid, add: ['eyes'], remove: ['hospital'], covered })
      return true
    },
    async die(family, today) {
      const benefit = held(family, one => one.since < today)
      if (!benefit || family.state !== 'active') return false
      const { name, since } = benefit
      const newest = family.named.findLast(one => one.name === name && one.since <= today)
      const from = [since, newest?.since ?? ''].sort().at(-1) ?? ''
      const person = newest?.who.find(nth => isAliveIn(family, name, nth, today))
      if (person === undefined || from >= today) return false
      const days = daysBetween(today, from)
      const last = dayAfter(today, -1 - random(days))
      family.gone.push({ name, person, last })
      const [dependant = ''] = await idsOf(family, [person])
      const correction = { op: 'lastcovered' as const, b: name, dependant, days: -daysBetween(today, last) }
      const { refused } = await correct(family.userid, correction)
      if (refused) throw new Error(`${family.userid} ${name}: ${refused}`)
      return true
    },
    async cancel(family, today) {
      const effective = draw(random, ['immediate', 'endofperiod'] as const)
      const until = effective === 'immediate' ? today : dayAfter(firstOfNext(today), -1)
      if (family.state !== 'active' || !end(family, today, until)) return false
      family.state = 'cancelled'
      await client.cancelUser({ userid: family.userid, effective })
      return true
    },
    async comeBack(family, today) {
      const { windows, on } = family.closed
      if (family.state !== 'cancelled' || daysBetween(today, on) > 25) return false
      family.state = 'active'
      for (const one of windows)
        if (on >= today) one.until = null
        else family.windows.push(windowOf(one.name, today, { isBack: true }))
      await client.reinstateUser({ userid: family.userid })
      return true
    },
    async erase(family, today) {
      if (family.state !== 'active' || !end(family, today, today)) return false
      family.state = 'erased'
      await client.eraseUser({ userid: family.userid })
      return true
    },
  }
}

/** Whether age has not ended the cover of somebody who is named, nor a correction. */
function isAliveIn({ people, gone }: Family, name: Covering, nth: number, today: string): boolean {
  const { relationship = '', dob = '' } = people[nth] ?? {}
  if (gone.some(one => one.name === name && one.person === nth)) return false
  return relationship !== 'child' || birthday(dob, maxAges[name]) > today
}

function draw<T>(random: Random, list: readonly T[]): T {
  return list[random(list.length)] as T
}

const DAY_MS = 86_400_000
function daysBetween(day: string, before: string): number {
  return (Date.parse(day) - Date.parse(before)) / DAY_MS
}
function dayAfter(day: string, count: number): string {
  return new Date(Date.parse(day) + count * DAY_MS).toISOString().slice(0, 10)
}
function firstOfNext(day: string): string {
  return `${dayAfter(`${day.slice(0, 7)}-01`, 31).slice(0, 7)}-01`
}
function birthday(dob: string, age: number): string {
  const date = new Date(dob)
  date.setUTCFullYear(date.getUTCFullYear() + age)
  return date.toISOString().slice(0, 10)
}
