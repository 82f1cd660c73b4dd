import { namingBenefits } from '../../../accounts/beneficiaries.ts'
import type { Benefit } from '../../../catalogue/model.ts'
import { type Html, html } from '../../../http/html.ts'
import type { NamedBeneficiary } from '../../../membership/rules/beneficiaries.ts'
import { designationOf } from '../../../membership/rules/designations.ts'
import { heldEnrolment } from '../../../membership/rules/state.ts'
import { hasBeneficiary } from '../../../membership/rules/terms.ts'
import { pageOf, type Visit } from '../../session/visit.ts'
import { dueDay, liveEnrolment, localDay } from '../../steps/cards.ts'
import { designationsOf } from '../../steps/naming.ts'
import type { Step } from '../../steps/step.ts'
import { dayText } from '../../views/format.ts'
import { icon } from '../../views/icons.ts'
import { type Content, savedNotice } from '../../views/layout.ts'
import { peopleList } from '../../views/naming.ts'
import type { IsoDate } from '../../views/parts.ts'
import { sayIn } from '../../views/say.ts'
import type { Page, ViewOf } from '../../views/surroundings.ts'

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
    const versions = await designationsOf(visit)
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

/** A member's beneficiaries for each benefit. */
export function drawBeneficiaries(view: BeneficiariesView): Content {
  const { page, benefits } = view
  const say = sayIn(page)

  return {
    title: say`Your beneficiaries`,
    back: 'overview',
    body: html`<h1 tabindex="-1">${say`Your beneficiaries`}</h1>
${savedNotice(page, view.saved)}
<p class="lead">${say`A beneficiary receives what a benefit pays after your death. You can change your choice at any time.`}</p>
${benefits.length === 0 && html`<p>${say`None of your benefits takes beneficiaries right now.`}</p>`}
${benefits.map(one => namingPart(page, one))}`,
  }
}

function namingPart(page: Page, one: BeneficiariesView['benefits'][number]): Html {
  const say = sayIn(page)

  const { name, displayname, people, since, isheld, ismissing, dueon } = one
  const path = `${page.root}/beneficiaries/${name}`
  return html`<section class="naming"><div class="heading"><h2>${displayname}</h2><a href="${path}">${
    people.length > 0 ? say`Change` : say`Name someone`
  }<span class="unseen"> – ${displayname}</span></a></div>
${people.length > 0 ? peopleList(page, people) : html`<p>${say`You have not named anyone yet.`}</p>`}
${
  isheld
    ? since && html`<p class="hint">${say`In place since ${dayText(page, since)}`}</p>`
    : html`<p class="withsign">${icon('info')}${
        people.length > 0
          ? say`You do not have this benefit now. The people you named count only when you have it.`
          : say`You do not have this benefit now.`
      }</p>`
}
${
  ismissing &&
  html`<p class="withsign warn">${icon('alert')}${
    dueon
      ? say`Name someone before ${dayText(page, dueon)}, or you will not get this benefit.`
      : say`This benefit does not start before you have named someone.`
  }</p>`
}</section>`
}
