import { namingBenefits } from '../../../accounts/beneficiaries.ts'
import type { Benefit } from '../../../catalogue/model.ts'
import { type Html, html } from '../../../http/html.ts'
import type { NamedBeneficiary } from '../../../membership/rules/beneficiaries.ts'
import { designationOf } from '../../../membership/rules/designations.ts'
import { heldEnrolment } from '../../../membership/rules/state.ts'
import { hasBeneficiary } from '../../../membership/rules/terms.ts'
import { pageOf, type Visit } from '../../session/visit.ts'
import { dueDay, liveEnrolment, localDay } from '../../steps/cards.ts'
import { versionsOf } from '../../steps/naming.ts'
import type { Step } from '../../steps/step.ts'
import { dayText } from '../../views/format.ts'
import { icon } from '../../views/icons.ts'
import { type Content, savedNotice } from '../../views/layout.ts'
import { peopleList } from '../../views/naming.ts'
import type { IsoDate } from '../../views/parts.ts'
import { inBoth, type Page, type ViewOf } from '../../views/surroundings.ts'
import { textsOf } from '../../views/texts.ts'

/** A member's beneficiaries for each benefit that takes them. */
export type BeneficiariesView = ViewOf<'BENEFICIARIES'> & {
  /** Somebody was named just now. */
  readonly saved?: boolean
  readonly benefits: readonly {
    readonly name: string
    readonly displayname: string
    readonly people: readonly NamedBeneficiary[]
    readonly since?: IsoDate | undefined
    /** False for a benefit that is over, or for which the person named somebody but which never began. */
    readonly isheld: boolean
    /** The benefit waits until a beneficiary is named. */
    readonly ismissing: boolean
    /** The day before which one must be named. */
    readonly dueon?: IsoDate | undefined
  }[]
}

/** A member's beneficiaries, for each of the member's benefits. */
export const beneficiaryList: Step<BeneficiariesView> = {
  show: async (visit, { form }) => {
    if (!visit.isMember) return { to: '' }
    const versions = await versionsOf(visit)
    const newest = (benefit: string, version: number | undefined) =>
      versions.find(one => one.benefit === benefit && one.version === version)
    return {
      view: 'BENEFICIARIES',
      page: pageOf(visit),
      saved: form.has('saved'),
      benefits: takingBenefits(visit).map(benefit => {
        const { name } = benefit
        const current = newest(name, designationOf(visit.user, name)?.version)
        const held = heldEnrolment(visit.user, name)
        const isMissing = held?.state === 'actionrequired' && !hasBeneficiary(visit.user, benefit)
        return {
          name,
          displayname: benefit.displayname[visit.locale],
          people: current?.beneficiaries ?? [],
          since: current && localDay(visit, current.writtenAt),
          isheld: liveEnrolment(visit.user, name) !== undefined,
          ismissing: isMissing,
          dueon: held && isMissing ? dueDay(visit, held) : undefined,
        }
      }),
    }
  },
}

/** The benefits that take beneficiaries and that a member has, or has already named somebody for. */
function takingBenefits({ user, terms }: Visit): readonly Benefit[] {
  return namingBenefits(user, terms)
    .map(({ benefit }) => benefit)
    .filter(
      ({ name }) => liveEnrolment(user, name) || user.designations.some(({ benefit }) => benefit === name),
    )
}

/** The words around the beneficiaries of each benefit. */
export const listWords = inBoth({
  en: {
    none: 'None of your benefits takes beneficiaries right now.',
    neededby: (by: string) => `Name someone before ${by}, or you will not get this benefit.`,
    notheld: 'You do not have this benefit now.',
    notheldnamed: 'You do not have this benefit now. The people you named count only when you have it.',
    since: (on: string) => `In place since ${on}`,
  },
  es: {
    none: 'Ahora ninguno de sus beneficios admite beneficiarios.',
    neededby: by => `Nombre a alguien antes del ${by}; si no, no recibirá este beneficio.`,
    notheld: 'Ahora no tiene este beneficio.',
    notheldnamed: 'Ahora no tiene este beneficio. Las personas que nombró cuentan solo cuando lo tenga.',
    since: on => `Vigente desde el ${on}`,
  },
})

/** A member's beneficiaries for each benefit. */
export function drawBeneficiaries(view: BeneficiariesView): Content {
  const { page, benefits } = view
  const words = textsOf(page).beneficiaries
  return {
    title: words.title,
    back: 'overview',
    body: html`<h1 tabindex="-1">${words.title}</h1>
${savedNotice(page, view.saved)}
<p class="lead">${words.lead}</p>
${benefits.length === 0 && html`<p>${listWords[page.locale].none}</p>`}
${benefits.map(one => namingPart(page, one))}`,
  }
}

function namingPart(page: Page, one: BeneficiariesView['benefits'][number]): Html {
  const texts = textsOf(page)
  const words = texts.beneficiaries
  const { name, displayname, people, since, isheld, ismissing, dueon } = one
  const path = `${page.root}/beneficiaries/${name}`
  return html`<section class="naming"><div class="heading"><h2>${displayname}</h2><a href="${path}">${
    people.length > 0 ? texts.shell.change : words.add
  }<span class="unseen"> – ${displayname}</span></a></div>
${people.length > 0 ? peopleList(page, people) : html`<p>${words.nobody}</p>`}
${
  isheld
    ? since && html`<p class="hint">${listWords[page.locale].since(dayText(page, since))}</p>`
    : html`<p class="withsign">${icon('info')}${
        people.length > 0 ? listWords[page.locale].notheldnamed : listWords[page.locale].notheld
      }</p>`
}
${
  ismissing &&
  html`<p class="withsign warn">${icon('alert')}${
    dueon ? listWords[page.locale].neededby(dayText(page, dueon)) : words.needed
  }</p>`
}</section>`
}
