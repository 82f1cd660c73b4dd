import { isDeepStrictEqual } from 'node:util'
import { MOST_BENEFICIARIES, relationships } from '@benefit-enrolment/contract'
import { nameBeneficiariesOf, namingBenefits } from '../../../accounts/beneficiaries.ts'
import { type Benefit, textIn } from '../../../catalogue/model.ts'
import { type Html, html } from '../../../http/html.ts'
import type { OpenDesignation } from '../../../membership/records/designations.ts'
import { designationOf } from '../../../membership/rules/designations.ts'
import { enrolmentOf } from '../../../membership/rules/enrolments.ts'
import { heldEnrolment, isLive, type User } from '../../../membership/rules/state.ts'
import { hasBeneficiary } from '../../../membership/rules/terms.ts'
import { authorOf } from '../../session/session.ts'
import { pageOf, type Visit } from '../../session/visit.ts'
import { dueDay, liveEnrolment, localDay } from '../../steps/cards.ts'
import { changeOwn } from '../../steps/change-own.ts'
import { designationsOf, namingAhead } from '../../steps/member-choices.ts'
import type { Posted, Step } from '../../steps/step.ts'
import { dateInputs } from '../../views/birth-date.ts'
import { isFaulty } from '../../views/faults.ts'
import {
  type Answers,
  errorOf,
  fault,
  form,
  inputId,
  question,
  selectField,
  textField,
} from '../../views/fields.ts'
import { dayText } from '../../views/format.ts'
import { icon } from '../../views/icons.ts'
import { savedNotice } from '../../views/layout.ts'
import { peopleList } from '../../views/naming.ts'
import type { IsoDate } from '../../views/parts.ts'
import { sayIn } from '../../views/say.ts'
import type { Page } from '../../views/surroundings.ts'
import { relationshipNames } from '../../views/texts.ts'
import {
  addedKind,
  type BeneficiaryField,
  type BeneficiaryRow,
  beneficiaryInput,
  changesRows,
  parseBeneficiaries,
  rowsIn,
  rowsOf,
} from './rows.ts'

/**
 * The inputs for the beneficiaries of one benefit, which take effect at once. With `then=done` the person comes here from an
 * agreement, goes on to its confirmation, and can do so without naming anybody.
 */
export function beneficiaryEdit(name: string): Step {
  return {
    show: async (visit, { form: asked, posted, errors }) => {
      const benefit = benefitAt(visit, name)
      if (!benefit) return { to: visit.isMember ? 'beneficiaries' : '' }
      const waiting = enrolmentOf(visit.user, name, one => isLive(one) && one.state === 'actionrequired')
      const isWaiting = waiting !== undefined && !hasBeneficiary(visit.user, benefit)
      const isOnWay = isOnTheWay(visit, asked)
      const { outcome } = visit.session
      const page = pageOf(visit)
      const say = sayIn(page)
      const answers = { page, errors }
      const rows = posted ? rowsIn(posted) : rowsOf(await peopleOf(visit, name))
      const added = posted && addedKind(posted)
      // The last row of its kind, if one was just asked for.
      const isNew = ({ kind }: BeneficiaryRow, at: number) => kind === added && rows[at + 1]?.kind !== added
      // The frame tells its host at once what was agreed to; the confirmation that follows does not tell it again.
      const isTold = isOnWay && !posted && outcome !== null && outcome !== 'challengefailed'
      return question('BENEFICIARIES_EDIT', answers, {
        title: say`Who receives what ${textIn(benefit.displayname, visit.locale)} pays?`,
        ...(isOnWay ? {} : { back: 'beneficiaries' }),
        signals: isTold ? { outcome } : {},
        body: html`<p class="lead">${say`A beneficiary receives what a benefit pays after your death. You can change your choice at any time.`}</p>
${isWaiting && waitsNotice(page, dueDay(visit, waiting))}
<p>${say`Name one person or more. Their shares add up to 100%.`}</p>
${form(answers, `beneficiaries/${name}`, [
  html`<input type="hidden" name="rows" value="${String(rows.length)}">`,
  html`<input type="hidden" name="version" value="${posted?.get('version') ?? versionShown(visit.user, name)}">`,
  isOnWay && html`<input type="hidden" name="then" value="done">`,
  rows.map((row, at) => [
    isFirstBackup(rows, at) &&
      html`<h2>${say`Backups`}</h2><p>${say`They receive it only if nobody above can. Their shares add up to 100%, too.`}</p>`,
    personFields(answers, row, { at: at + 1, ismany: rows.length > 1, isnew: isNew(row, at) }),
  ]),
  rows.length < MOST_BENEFICIARIES &&
    html`<p class="more"><button class="secondary"
name="add" value="primary">${icon('plus')}${say`Add another person`}</button><button class="secondary"
name="add" value="contingent">${icon('plus')}${say`Add a backup`}</button></p>`,
  html`<p class="actions"><button class="primary">${isOnWay ? say`Continue` : say`Save`}</button>${
    isOnWay && html`<a class="secondary" href="${page.root}/done?told">${say`Do this later`}</a>`
  }</p>`,
])}`,
      })
    },
    post: async (visit, posted) => {
      if (!benefitAt(visit, name)) return { to: visit.isMember ? 'beneficiaries' : '' }
      return changesRows(posted) ? 'again' : nameNow(visit, posted, name)
    },
  }
}

/** Whether the person comes from an agreement, and goes on to its confirmation. */
function isOnTheWay({ session }: Visit, form: URLSearchParams): boolean {
  return form.get('then') === 'done' && session.outcome !== null
}

function benefitAt({ isMember, user, terms }: Visit, name: string) {
  const found = isMember ? namingBenefits(user, terms) : []
  return found.find(({ benefit }) => benefit.name === name)?.benefit
}

/** The version of a member's beneficiaries that a form is made from; empty while there are none. */
function versionShown(user: User, name: string): string {
  return String(designationOf(user, name)?.version ?? '')
}

async function peopleOf(visit: Visit, name: string): Promise<OpenDesignation['beneficiaries']> {
  const version = designationOf(visit.user, name)?.version
  const versions = version === undefined ? [] : await designationsOf(visit)
  return versions.find(one => one.benefit === name && one.version === version)?.beneficiaries ?? []
}

async function nameNow(visit: Visit, form: URLSearchParams, name: string): Promise<Posted> {
  const beneficiaries = parseBeneficiaries(form, visit.today)
  if (isFaulty(beneficiaries)) return beneficiaries
  const isRepeat = isDeepStrictEqual(await peopleOf(visit, name), beneficiaries)
  const version = form.get('version')
  let named = visit.user
  const reply = await changeOwn(visit, {
    why: 'beneficiaries named',
    decide: ({ user, now, terms }) => {
      // Otherwise a form left open in another window would replace the people named since.
      const isOlder = version !== null && version !== versionShown(user, name)
      if (isOlder) return isRepeat ? 'unchanged' : 'conflict'
      const change = nameBeneficiariesOf(user, { benefit: name, who: authorOf(visit.session) }, now, terms())
      named = change.user
      return { ...change, designations: [{ ...change.designation, beneficiaries }] }
    },
  })
  if (reply === 'conflict') return reply
  if (reply !== 'done') return 'gone'
  if (!isOnTheWay(visit, form)) return { to: 'beneficiaries?saved=yes' }
  return { to: namingAhead({ ...visit, user: named }) ?? 'done?told' }
}

function isFirstBackup(rows: readonly BeneficiaryRow[], at: number): boolean {
  return rows[at]?.kind === 'contingent' && rows[at - 1]?.kind !== 'contingent'
}

function personFields(
  whole: Answers,
  row: BeneficiaryRow,
  { at, ismany, isnew }: { readonly at: number; readonly ismany: boolean; readonly isnew: boolean },
): Html {
  const say = sayIn(whole.page)

  const named = (field: BeneficiaryField) => beneficiaryInput(at, field)
  const kept = Object.fromEntries(
    Object.entries(row).map(([field, value]) => [`person${at}.${field}`, value]),
  )
  const answers = { ...whole, kept }
  return html`<fieldset class="person"><legend class="label"${
    isnew && html` tabindex="-1" data-focus`
  }>${say`Person ${at}`}</legend>
<input type="hidden" name="${named('kind')}" value="${row.kind}">
${textField(answers, { input: named('name'), label: say`Full name`, hint: say`You can also name a trust.` })}
${selectField(
  answers,
  { input: named('relationship'), label: say`Relationship to you`, size: 'middle' },
  {
    empty: say`Choose`,
    list: relationships.map(code => [code, say(relationshipNames[code])]),
  },
)}
${textField(answers, { input: named('share'), label: say`Share in percent`, inputmode: 'numeric', size: 'short' })}
${birthDateOf(answers, at)}
${textField(answers, { input: named('contact'), label: say`Phone number or address`, optional: true })}
${ismany && html`<p><button class="quiet" name="remove" value="${String(at)}">${say`Remove person ${at}`}</button></p>`}
</fieldset>`
}

/** The inputs of somebody's date of birth. */
export function birthDateOf(answers: Answers, at: number, isOptional = true): Html {
  const say = sayIn(answers.page)

  const id = inputId(beneficiaryInput(at, 'dobmonth'))
  const error = errorOf(answers, beneficiaryInput(at, 'dobmonth'))
  return html`<fieldset class="field date${error && ' wrong'}"${error && html` aria-describedby="${id}-error"`}>
<legend class="label">${say`Date of birth`}${isOptional && html` <span class="optional">${say`(optional)`}</span>`}</legend>
${fault(answers, id, error)}
${dateInputs(
  answers,
  part => beneficiaryInput(at, `dob${part}`),
  () => error !== undefined,
)}
</fieldset>`
}

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
  const displayname = textIn(benefit.displayname, visit.locale)
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
function waitsNotice(page: Page, dueOn: IsoDate | undefined): Html {
  const say = sayIn(page)
  return html`<p class="withsign warn">${icon('alert')}${
    dueOn
      ? say`Name someone before ${dayText(page, dueOn)}, or you will not get this benefit.`
      : say`This benefit does not start before you have named someone.`
  }</p>`
}
