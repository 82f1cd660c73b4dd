import type { Relationship } from '../../catalogue/model.ts'
import { type Html, html } from '../../http/html.ts'
import { type Answers, errorOf, fault, inputId, invalid } from './fields.ts'
import { costText, dayText, namesText } from './format.ts'
import { icon } from './icons.ts'
import type { Cost, CoverChoice, CoveredName, CoverFacts, CoverPerson, HeldCover } from './parts.ts'
import { later, sayIn } from './say.ts'
import type { Localized, Page } from './surroundings.ts'

/** What somebody is to the person whose benefit covers them. */
export const familyNames: Readonly<Record<Relationship, string>> = {
  spouse: later`Spouse`,
  domesticpartner: later`Domestic partner`,
  child: later`Child`,
}

/**
 * Who should be covered by a benefit: what each choice costs, a box for each person named, and the buttons that name one more, and that
 * change one. The buttons send the form that this is part of, so that nothing chosen is lost.
 */
export function coverField(answers: Answers, choice: CoverChoice): Html {
  const { page } = answers
  const say = sayIn(page)
  const { benefit, displayname, people, prices } = choice
  const input = `cover.${benefit}` as const
  const id = inputId(input)
  const error = errorOf(answers, input)
  const [alone] = prices
  const cents = prices.map(cost => centsOf(cost ?? alone)).join(' ')
  const per = prices.flatMap(cost => (cost?.kind === 'amount' ? [cost.per] : []))[0] ?? 'month'
  return html`<fieldset class="field who${error && ' wrong'}" data-of="${benefit}" data-prices="${cents}"
data-cents="${centsOf(choice.cost)}" data-per="${per}"${choice.isincluded && html` data-included`}${error && html` aria-describedby="${id}-error"`}>
<legend class="label"${choice.isfocus && html` tabindex="-1" data-focus`}>${say`Who should be covered?`}<span
class="unseen"> – ${displayname}</span></legend>
${fault(answers, id, error)}
<ul class="plain">${prices.map(
    (cost, bits) => cost && html`<li>${whoText(page, choice, bits)}: ${priceOf(page, cost)}</li>`,
  )}</ul>
${people
  .filter(({ rule }) => !rule)
  .map((person, at) => personBox(answers, choice, { person, id: at === 0 ? id : `${id}-${at}` }))}
${people.filter(({ rule }) => rule).map(one => html`<p class="hint">${whyNot(page, choice, one)}</p>`)}
${
  choice.ismore &&
  html`<p><button class="secondary" name="add" value="${benefit}">${icon('plus')}${say`Add a person`}<span
class="unseen"> – ${displayname}</span></button></p>`
}
</fieldset>`
}

function personBox(
  answers: Answers,
  { benefit }: CoverChoice,
  { person, id }: { readonly person: CoverPerson; readonly id: string },
): Html {
  const say = sayIn(answers.page)
  const { name, relationship, bit, ischosen } = person
  const input = `cover.${benefit}` as const
  return html`<div class="pick"><label class="choice"><input type="checkbox" id="${id}" name="${input}" value="${person.id}"
data-bit="${bit}"${ischosen && html` checked`}${errorOf(answers, input) && invalid}><span>${name}<span
class="hint">${say(familyNames[relationship])}</span></span></label><button class="quiet"
name="edit" value="${benefit} ${person.id}">${say`Change`}<span class="unseen"> – ${name}</span></button></div>`
}

function centsOf(cost: Cost | undefined): number {
  return cost?.kind === 'amount' ? Math.round(cost.amount * 100) : 0
}

function priceOf(page: Localized, cost: Cost): string {
  const say = sayIn(page)
  return cost.kind === 'nothing' ? say`Free` : costText(page, cost)
}

/** Whom a choice covers, such as `You, your spouse or partner, and your children`. */
function whoText(page: Localized, { spouses }: CoverChoice, bits: number): string {
  const say = sayIn(page)
  const spouse =
    spouses.length > 1
      ? say`your spouse or partner`
      : spouses[0] === 'spouse'
        ? say`your spouse`
        : say`your partner`
  return namesText(page, [say`You`, ...(bits & 1 ? [spouse] : []), ...(bits & 2 ? [say`your children`] : [])])
}

function whyNot(page: Localized, { maxage = 0 }: CoverChoice, { name, rule }: CoverPerson): string {
  const say = sayIn(page)
  return rule === 'too_old'
    ? say`${name} cannot be covered: this benefit covers children until they turn ${maxage}.`
    : say`${name} cannot be covered by this benefit.`
}

/** Whom a benefit covers, until when, and whom it will cover at what price, in a sentence each. */
export function coverLines(page: Localized, { covered, coverlater }: CoverFacts): readonly string[] {
  const say = sayIn(page)
  const now = covered ? [say`Covers ${coveredText(page, covered)}`, ...untilLines(page, covered)] : []
  if (!coverlater?.covered || !coverlater.cost) return now
  const isNew = ({ name }: CoveredName) => !covered?.some(one => one.name === name)
  const [from, names] = [dayText(page, coverlater.on), coveredText(page, coverlater.covered)]
  return [
    ...now,
    coverlater.cost.kind === 'nothing'
      ? say`From ${from}: covers ${names}, free of charge`
      : say`From ${from}: covers ${names}, and you pay ${costText(page, coverlater.cost)}`,
    ...untilLines(page, coverlater.covered.filter(isNew)),
  ]
}

/** The names of those covered, the person first. */
function coveredText(page: Localized, covered: readonly CoveredName[]): string {
  const say = sayIn(page)
  const names = covered.map(({ name }) => name)
  return names.length === 0 ? say`you alone` : namesText(page, [say`you`, ...names])
}

/** Until when each is covered of whom that is known. */
function untilLines(page: Localized, covered: readonly CoveredName[]): readonly string[] {
  const say = sayIn(page)
  return covered.flatMap(({ name, until }) =>
    until ? [say`The coverage of ${name} ends on ${dayText(page, until)}`] : [],
  )
}

/** The same on the card of a benefit that is held, with the link that changes it. */
export function heldCover(
  page: Page,
  { name, displayname }: { readonly name: string; readonly displayname: string },
  facts: HeldCover,
): Html {
  const say = sayIn(page)
  return html`<div class="who">${coverLines(page, facts).map(line => html`<p class="hint">${line}</p>`)}${
    facts.ischangeable &&
    html`<p><a class="secondary" href="${page.root}/cover/${name}">${say`Change who ${displayname} covers`}</a></p>`
  }</div>`
}
