import { isZone } from '../calendar/calendar.ts'
import { checkForm } from '../catalogue/check-form.ts'
import type { Catalogue } from '../catalogue/model.ts'
import { openYaml } from '../catalogue/open-yaml.ts'
import type { Problem } from '../catalogue/problem.ts'
import type { YamlValue } from '../catalogue/yaml-value.ts'
import { type Column, type Feed, type FeedDocument, isWholeDate, LINE_VALUES, type X12Form } from './feed.ts'
import { FEED_SCHEMA } from './schema.ts'

/** The feeds of a file, or all its problems from top to bottom. */
export type ParsedFeeds =
  | { readonly ok: true; readonly document: FeedDocument }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** Refuses the value at a JSON pointer. */
type Refuse = (pointer: string, message: string) => void

/** The insurance lines of the 834 guide (005010X220A1, HD03). */
const LINE_CODES = new Set(
  'AG AH AJ AK DCP DEN EPO FAC HE HLT HMO LTC LTD MM MOD PDG POS PPO PRA STD UR VIS'.split(' '),
)

/**
 * Reads feeds from YAML (docs/feeds.md). `catalogue` has the benefits and insurers that feeds may name; without it names are
 * not compared. A refusal contains all problems at once, each with its line and remedy.
 */
export function parseFeeds(yamlText: string, catalogue: Catalogue | undefined): ParsedFeeds {
  const yaml = openYaml(yamlText)
  if ('problems' in yaml) return { ok: false, problems: yaml.problems }
  const problems = checkForm(yaml, FEED_SCHEMA)
  if (problems.length === 0) problems.push(...checkFeeds(yaml, catalogue))
  if (problems.length > 0)
    return { ok: false, problems: problems.sort((a, b) => a.line - b.line || a.column - b.column) }
  return { ok: true, document: yaml.value as FeedDocument }
}

function checkFeeds(yaml: YamlValue, catalogue: Catalogue | undefined): Problem[] {
  const problems: Problem[] = []
  const refuse: Refuse = (pointer, message) => problems.push({ ...yaml.positionOf(pointer), message })
  const feeds = (yaml.value as FeedDocument).feeds
  const names = new Set<string>()
  const benefits = new Map<string, string>()
  for (const [index, feed] of feeds.entries()) {
    const at = `/feeds/${index}`
    if (names.has(feed.feed))
      refuse(`${at}/feed`, `${feed.feed} is the name of an earlier feed; take another`)
    names.add(feed.feed)
    const isInsurer = !catalogue || isKnownInsurer(feed, catalogue)
    if (catalogue && !isInsurer) refuse(`${at}/insurer`, unknownInsurer(feed, catalogue))
    for (const [nth, benefit] of feed.benefits.entries()) {
      const other = benefits.get(benefit)
      if (other !== undefined)
        refuse(
          `${at}/benefits/${nth}`,
          `${benefit} is told by the feed ${other} already; a benefit belongs to one feed`,
        )
      benefits.set(benefit, feed.feed)
      if (catalogue)
        checkBenefit(feed, isInsurer, { benefit, catalogue, at: `${at}/benefits/${nth}` }, refuse)
    }
    checkForms(feed, at, refuse)
    for (const { benefit, message } of catalogue ? familyProblems(feed, catalogue) : [])
      refuse(`${at}/benefits/${feed.benefits.indexOf(benefit)}`, message)
  }
  return problems
}

function isKnownInsurer({ insurer }: Feed, { benefits, insurers }: Catalogue): boolean {
  return insurers.has(insurer) || [...benefits.values()].some(one => one.insurer?.insurer === insurer)
}

/** Names the insurer that the benefits of the feed have in the catalogue: the name in the feed may be misspelt. */
function unknownInsurer({ insurer, benefits }: Feed, catalogue: Catalogue): string {
  const given = benefits.flatMap(name => catalogue.benefits.get(name)?.insurer?.insurer ?? [])
  const [only, ...more] = new Set(given.length > 0 ? given : catalogue.insurers.keys())
  const remedy =
    only === undefined
      ? `add ${insurer} to the insurers of the catalogue, and publish that first`
      : `write ${[only, ...more].join(' or ')}, which ${given.length > 0 ? 'the catalogue gives these benefits' : 'the catalogue has'}`
  return `"${insurer}" is no insurer of the published catalogue; ${remedy}`
}

function checkBenefit(
  { insurer }: Feed,
  isInsurer: boolean,
  {
    benefit,
    catalogue,
    at,
  }: { readonly benefit: string; readonly catalogue: Catalogue; readonly at: string },
  refuse: Refuse,
): void {
  const known = catalogue.benefits.get(benefit)
  if (!known)
    refuse(at, `no benefit ${benefit} is in the published catalogue; correct the name, or publish it first`)
  else if (isInsurer && known.insurer?.insurer !== insurer)
    refuse(
      at,
      known.insurer?.insurer
        ? `the catalogue gives ${benefit} to ${known.insurer.insurer}, not to ${insurer}; take it out here, or correct the catalogue`
        : `the catalogue gives ${benefit} no insurer by its code; write insurer: ${insurer} in the benefit, or take it out here`,
    )
}

function checkForms(feed: Feed, at: string, refuse: Refuse): void {
  const { format, columns, csv, every, benefits, x12834, answers, list } = feed
  if (every && !isZone(every.timezone))
    refuse(`${at}/every/timezone`, `"${every.timezone}" is no time zone; write one such as America/New_York`)
  if (csv?.dates !== undefined && !isWholeDate(csv.dates))
    refuse(`${at}/csv/dates`, `"${csv.dates}" is no whole date; write it with YYYY or YY, MM and DD`)
  if (format !== 'x12834') {
    if (!columns) refuse(at, `columns is missing; a feed of format ${format} needs them`)
    for (const [nth, column] of (columns ?? []).entries()) checkColumn(column, `${at}/columns/${nth}`, refuse)
    if (format === 'json') checkNames(columns ?? [], `${at}/columns`, refuse)
  } else if (!x12834) refuse(at, 'x12834 is missing; add sender, receiver, sponsor and lines')
  else {
    for (const party of ['sponsor', 'receiver'] as const)
      if (x12834[party][0] !== 'FI')
        refuse(
          `${at}/x12834/${party}`,
          `"${x12834[party][0]}" cannot be here: the 834 guide names it by its federal tax number; write [FI, "123456789"]`,
        )
    checkParties(x12834, `${at}/x12834`, refuse)
    for (const [nth, benefit] of benefits.entries()) {
      const line = Object.hasOwn(x12834.lines, benefit) ? x12834.lines[benefit] : undefined
      if (line === undefined || !LINE_CODES.has(line))
        refuse(
          `${at}/benefits/${nth}`,
          `${line === undefined ? '' : `"${line}" is no insurance line: `}the 834 guide has no insurance line for ${benefit} here; write one of ${[...LINE_CODES].join(', ')} under x12834.lines, or send it by a CSV feed`,
        )
    }
  }
  if (
    answers &&
    !('code' in answers.columns && ('line' in answers.columns || 'serviceid' in answers.columns))
  )
    refuse(`${at}/answers/columns`, 'needs code, and line or serviceid to find what is answered')
  if (list && !('memberid' in list.columns || 'serviceid' in list.columns))
    refuse(`${at}/list/columns`, 'needs memberid or serviceid to find the person')
}

/** The envelope of an 834 has a fixed length: two characters for a qualifier, 15 for an id; a separator in either ends it early. */
function checkParties(x12834: X12Form, at: string, refuse: Refuse): void {
  const [qualifier] = x12834.sender
  if (!/^[A-Z0-9]{2}$/.test(qualifier))
    refuse(
      `${at}/sender/0`,
      `"${qualifier}" is no qualifier of X12; write two characters such as ZZ, or FI before a federal tax number`,
    )
  for (const party of ['sender', 'receiver', 'sponsor'] as const) {
    const id = x12834[party][1]
    if (/[*~:^]/.test(id))
      refuse(`${at}/${party}/1`, `"${id}" has a separator of X12; write the id without * ~ : and ^`)
    if (party !== 'sponsor' && id.length > 15)
      refuse(`${at}/${party}/1`, `"${id}" is too long for an 834; write an id of at most 15 characters`)
  }
}

/**
 * Why a feed cannot tell of the benefits of a catalogue that cover families: a line about a dependant must say so, and an 834 needs
 * a coverage level for each tier.
 */
export function familyProblems(
  { feed, format, columns = [], benefits, x12834 }: Feed,
  catalogue: Pick<Catalogue, 'benefits'>,
): { readonly benefit: string; readonly message: string }[] {
  return benefits.flatMap(benefit => {
    const tiers = (catalogue.benefits.get(benefit)?.tiers ?? []).map(({ tier }) => tier)
    if (format !== 'x12834') {
      const isSaid = tiers.length === 0 || columns.some(({ value }) => value === 'who')
      const message = `${benefit} covers families, and the feed ${feed} does not say whom a line is about; add { name: WHO, value: who } to its columns`
      return isSaid ? [] : [{ benefit, message }]
    }
    const missing = tiers.filter(tier => !Object.hasOwn(x12834?.tiers ?? {}, tier))
    const message = `the feed ${feed} has no coverage level for ${missing.join(', ')} of ${benefit}; write one such as EMP, ESP, ECH or FAM for each tier under x12834.tiers`
    return missing.length === 0 ? [] : [{ benefit, message }]
  })
}

/** An object has one member of a name; in CSV insurers may want the same name twice, as of empty columns. */
function checkNames(columns: readonly Column[], at: string, refuse: Refuse): void {
  const names = columns.map(({ name }) => name)
  for (const [nth, name] of names.entries())
    if (names.indexOf(name) < nth)
      refuse(
        `${at}/${nth}/name`,
        `${name} is the name of an earlier column, which it would replace; give it another name`,
      )
}

const dateValues = ['dob', 'startson', 'endson', 'effectiveon']

function checkColumn({ value, form }: Column, at: string, refuse: Refuse): void {
  if (value === undefined) return
  const isKnown = LINE_VALUES.some(one => one === value) || /^moredetails\.[a-z0-9]{1,32}$/.test(value)
  if (!isKnown)
    refuse(
      `${at}/value`,
      `"${value}" is no value of a line; use one of ${LINE_VALUES.join(', ')}, moredetails.NAME`,
    )
  if (form !== undefined && !dateValues.includes(value))
    refuse(
      `${at}/form`,
      `"${form}" is a form of dates, and ${value} is none: it belongs to dates only (${dateValues.join(', ')}); delete it`,
    )
}
