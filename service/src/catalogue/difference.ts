import {
  type Benefit,
  type Bilingual,
  type Catalogue,
  type Covers,
  howToUse,
  LANGUAGES,
  type Offer,
  type Price,
  type Rule,
  type Worth,
} from './model.ts'

/** One difference between two catalogues, in words: `from` is empty for something new, `to` for something removed. */
export type Difference = {
  readonly kind: 'benefit' | 'offer'
  readonly name: string
  /** Empty when the whole benefit or offer is new or removed. */
  readonly field: string
  readonly from: string
  readonly to: string
}

/** The differences of two catalogues, benefits before offers, each by name; [] when their content is equal. */
export function differencesOf(before: Catalogue, after: Catalogue): Difference[] {
  return [
    ...compareAll('benefit', before.benefits, after.benefits, benefitFields),
    ...compareAll('offer', before.offers, after.offers, offerFields),
  ]
}

const MOST_SHOWN = 240

/**
 * Both texts of a difference; long ones (a list of ZIP codes may have 10,000) begin shortly before the first
 * difference.
 */
export function shortened({ from, to }: Pick<Difference, 'from' | 'to'>): { from: string; to: string } {
  let same = 0
  while (same < from.length && from[same] === to[same]) same += 1
  const start = Math.max(0, same - 40)
  const excerpt = (text: string) => {
    if (text.length <= MOST_SHOWN) return text
    const end = start + MOST_SHOWN
    return `${start > 0 ? '… ' : ''}${text.slice(start, end)}${end < text.length ? ' …' : ''}`
  }
  return { from: excerpt(from), to: excerpt(to) }
}

type Fields = ReadonlyMap<string, string>

function compareAll<T extends { readonly displayname: Bilingual }>(
  kind: Difference['kind'],
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
  fieldsOf: (one: T) => Fields,
): Difference[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort()
  return names.flatMap(name => {
    const [was, is] = [before.get(name), after.get(name)]
    if (!was || !is)
      return [{ kind, name, field: '', from: was?.displayname.en ?? '', to: is?.displayname.en ?? '' }]
    const [from, to] = [fieldsOf(was), fieldsOf(is)]
    return [...new Set([...from.keys(), ...to.keys()])]
      .filter(field => from.get(field) !== to.get(field))
      .map(field => ({ kind, name, field, from: from.get(field) ?? '', to: to.get(field) ?? '' }))
  })
}

function benefitFields(benefit: Benefit): Fields {
  const { covers, consent, documents, endsatage, insurer, waitingperiod } = benefit
  const use = howToUse(benefit)
  return filled([
    ...texts('displayname', benefit.displayname),
    ...texts('description', benefit.description),
    ['icon', benefit.icon],
    ['benefittype', benefit.benefittype],
    ['sortorder', String(benefit.sortorder)],
    ...texts('pays', benefit.pays),
    ...texts('notcovered', benefit.notcovered),
    ...(benefit.tiers ?? []).flatMap((tier): Entry[] => [
      [`tier ${tier.tier}`, ['holder', ...tier.who].join(' and ')],
      ...worthTexts(`tier ${tier.tier}: `, tier),
    ]),
    ['covers', covers && coversText(covers)],
    ...worthTexts('', benefit),
    ...ruleTexts(benefit.rules),
    ['consent version', consent?.version],
    ...texts('consent', consent?.text),
    ['endsatage', endsatage?.toString()],
    ['insurer', insurer?.name],
    ['policy', benefit.policy],
    ['plancode', benefit.plancode],
    ...texts('insurer licence', insurer?.licence),
    ...texts('how to use it', use?.text),
    ['how to use it: phone', use?.phone],
    ['how to use it: url', use?.url],
    ['how to use it: email', use?.email],
    ['how to use it: within', use?.within && `${use.within.days} days`],
    ...(documents ?? []).map((one): Entry => [`document ${documentName(one)}`, documentText(one)]),
    ['waitingperiod', waitingperiod && `${waitingperiod.days} days`],
    ...texts('waitingperiod', waitingperiod?.text),
    ['beneficiaries', benefit.beneficiaries],
  ])
}

function offerFields(offer: Offer): Fields {
  const { from, until } = offer.availability ?? {}
  return filled([
    ...texts('displayname', offer.displayname),
    ...texts('description', offer.description),
    ['rank', String(offer.rank)],
    ['fixed', offer.fixed.join(', ') || 'none'],
    ['selectable', offer.selectable.join(', ') || 'none'],
    ['slots', String(offer.slots)],
    ['cutoffhours', String(offer.cutoffhours)],
    ['fee', offer.fee && priceText(offer.fee)],
    ['firstmonth', offer.firstmonth],
    ['lastmonth', offer.lastmonth],
    ['open to newcomers from', from],
    ['open to newcomers until', until],
    ...ruleTexts(offer.rules),
  ])
}

function worthTexts(of: string, { cost, premium, amount }: Partial<Worth>): Entry[] {
  return [
    [`${of}cost`, cost && priceText(cost)],
    ...texts(`${of}cost taken`, cost?.taken?.how),
    [`${of}premium`, premium && priceText(premium)],
    [`${of}amount`, amount && `${dollars(amount.cents)}${amount.per ? ` a ${amount.per}` : ' once'}`],
  ]
}

function coversText({ spouse, domesticpartner, child }: Covers): string {
  const most = child?.most === undefined ? '' : `, ${child.most} at most`
  return [
    spouse && 'spouse',
    domesticpartner && 'domestic partner',
    child && `children below ${child.maxage}${most}`,
  ]
    .filter(Boolean)
    .join('; ')
}

type Entry = readonly [field: string, text: string | undefined]

function filled(entries: readonly Entry[]): Fields {
  return new Map(entries.flatMap(([field, text]) => (text === undefined ? [] : [[field, text] as const])))
}

function texts(field: string, text: Bilingual | undefined): Entry[] {
  return LANGUAGES.map(language => [`${field} (${language})`, text?.[language]])
}

function ruleTexts(rules: readonly Rule[]): Entry[] {
  return rules.flatMap(rule => [
    [`rule ${rule.code}`, conditionOf(rule)],
    ...texts(`rule ${rule.code}`, rule.text),
  ])
}

/** What a rule admits, in words. */
function conditionOf(rule: Rule): string {
  switch (rule.kind) {
    case 'age':
      return `ages ${rule.min ?? 0} to ${rule.max ?? 'any'}`
    case 'states':
      return rule.in ? `states ${rule.in.join(', ')}` : `all states but ${(rule.notin ?? []).join(', ')}`
    case 'zips':
      return [
        rule.in && `ZIP codes ${rule.in.join(', ')}`,
        rule.prefixes && `ZIP codes that begin with ${rule.prefixes.join(', ')}`,
        rule.notin && `not ZIP codes ${rule.notin.join(', ')}`,
        rule.notprefixes && `not ZIP codes that begin with ${rule.notprefixes.join(', ')}`,
      ]
        .filter(Boolean)
        .join('; ')
    case 'offers':
      return `holders of ${rule.in.join(', ')}`
  }
}

function priceText({ cents, per, taken }: Price): string {
  const price = cents === 0 ? 'nothing' : `${dollars(cents)} a ${per}`
  return taken ? `${price}, taken by the ${taken.by}` : price
}

function dollars(cents: number): string {
  return `$${(cents / 100).toFixed(2)}`
}

type Document = NonNullable<Benefit['documents']>[number]

// Without the hash of the content with which the address begins, so that a replaced file is a change of its document
// and not another document.
function documentName({ file, language }: Document): string {
  return `${file.split('/').at(-1)} (${language})`
}

function documentText({ title, file, states }: Document): string {
  const where = states?.in ? `in ${states.in.join(', ')}` : `not in ${(states?.notin ?? []).join(', ')}`
  const bytes = file.includes('/') ? `, file ${file.slice(0, 12)}` : ''
  return `“${title.en}”${states ? `, ${where}` : ''}${bytes}`
}
