import { namingBenefits } from '../../../accounts/beneficiaries.ts'
import type { Benefit } from '../../../catalogue/model.ts'
import { type Html, html } from '../../../http/html.ts'
import type { OpenDesignation } from '../../../membership/records/designations.ts'
import { designationOf } from '../../../membership/rules/designations.ts'
import { heldEnrolment } from '../../../membership/rules/state.ts'
import { hasBeneficiary } from '../../../membership/rules/terms.ts'
import { pageOf, type Visit } from '../../session/visit.ts'
import { dueDay, liveEnrolment, localDay } from '../../steps/cards.ts'
import { designationsOf } from '../../steps/naming.ts'
import type { Step } from '../../steps/step.ts'
import { dayText } from '../../views/format.ts'
import { icon } from '../../views/icons.ts'
import { savedNotice } from '../../views/layout.ts'
import { peopleList } from '../../views/naming.ts'
import type { IsoDate } from '../../views/parts.ts'
import { sayIn } from '../../views/say.ts'
import type { Page } from '../../views/surroundings.ts'

/** A member's beneficiaries, for each of the member's benefits. */
export const beneficiaryList: Step = {
  show: async (visit, { form }) => {
    if (!visit.isMember) return { to: '' }
    const page = pageOf(visit)
    const say = sayIn(page)
    const versions = await designationsOf(visit)
    const benefits = takingBenefits(visit)
    const body = html`<h1 tabindex="-1">${say`Your beneficiaries`}</h1>
${savedNotice(page, form.has('saved'))}
<p class="lead">${say`A beneficiary receives what a benefit pays after your death. You can change your choice at any time.`}</p>
${benefits.length === 0 && html`<p>${say`None of your benefits takes beneficiaries right now.`}</p>`}
${benefits.map(benefit => namingPart(visit, page, benefit, versions))}`
    const content = { title: say`Your beneficiaries`, back: 'overview', body }
    return { view: 'BENEFICIARIES', page, content }
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

function namingPart(visit: Visit, page: Page, benefit: Benefit, versions: readonly OpenDesignation[]): Html {
  const say = sayIn(page)
  const { name } = benefit
  const displayname = benefit.displayname[visit.locale]
  const version = designationOf(visit.user, name)?.version
  const current = versions.find(one => one.benefit === name && one.version === version)
  const people = current?.beneficiaries ?? []
  const held = heldEnrolment(visit.user, name)
  const waiting = held?.state === 'actionrequired' && !hasBeneficiary(visit.user, benefit) ? held : undefined
  return html`<section class="naming"><div class="heading"><h2>${displayname}</h2><a href="${page.root}/beneficiaries/${name}">${
    people.length > 0 ? say`Change` : say`Name someone`
  }<span class="unseen"> – ${displayname}</span></a></div>
${people.length > 0 ? peopleList(page, people) : html`<p>${say`You have not named anyone yet.`}</p>`}
${
  liveEnrolment(visit.user, name)
    ? current &&
      html`<p class="hint">${say`In place since ${dayText(page, localDay(visit, current.writtenAt))}`}</p>`
    : html`<p class="withsign">${icon('info')}${
        people.length > 0
          ? say`You do not have this benefit now. The people you named count only when you have it.`
          : say`You do not have this benefit now.`
      }</p>`
}
${waiting && waitsNotice(page, dueDay(visit, waiting))}</section>`
}

/** What it means to name nobody for a benefit that waits for it. */
export function waitsNotice(page: Page, dueOn: IsoDate | undefined): Html {
  const say = sayIn(page)
  return html`<p class="withsign warn">${icon('alert')}${
    dueOn
      ? say`Name someone before ${dayText(page, dueOn)}, or you will not get this benefit.`
      : say`This benefit does not start before you have named someone.`
  }</p>`
}
