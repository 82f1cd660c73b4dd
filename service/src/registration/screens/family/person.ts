import { setDependantsOf } from '../../../accounts/dependants.ts'
import { RELATIONSHIPS } from '../../../catalogue/model.ts'
import { html } from '../../../http/html.ts'
import type { Dependant } from '../../../membership/rules/dependant.ts'
import { isRefusal } from '../../../membership/rules/refusal.ts'
import { heldEnrolment } from '../../../membership/rules/state.ts'
import { type Draft, draftOf } from '../../session/person.ts'
import { pageOf, type Visit } from '../../session/visit.ts'
import { namedPeople } from '../../steps/cards.ts'
import { changeOwn, saveAnswers } from '../../steps/change-own.ts'
import { type Asked, alsoCovering, askedFor, isChangeable } from '../../steps/family.ts'
import { type Posted, parseBirthDate, type Step, typed } from '../../steps/step.ts'
import { dateFields } from '../../views/birth-date.ts'
import { familyNames } from '../../views/cover.ts'
import { type FieldError, isFaulty, type Parsed } from '../../views/faults.ts'
import { form, question, selectField, textField } from '../../views/fields.ts'
import { sayIn } from '../../views/say.ts'
import { birthDateOf } from '../beneficiaries/people.ts'
import { beneficiaryInput } from '../beneficiaries/rows.ts'

/**
 * The short form that names somebody whom benefits may cover, once for all of them, or changes or removes them. The person comes here
 * from the people of one benefit, goes back there, and finds whom they have just named chosen for it, where it may cover them.
 */
export function familyPerson(name: string): Step {
  return {
    show: (visit, { form: asked, posted, errors }) => {
      const cover = askedFor(visit, name)
      if (!cover) return { to: visit.isMember ? 'overview' : '' }
      const page = pageOf(visit)
      const say = sayIn(page)
      const known = namedPeople(visit).find(({ dependantid }) => dependantid === asked.get('person'))
      const kept = posted ? Object.fromEntries(posted) : known && fieldsOf(known)
      const answers = { page, errors, kept }
      const { covers = {} } = cover.benefit
      const offered = RELATIONSHIPS.filter(one => covers[one] || one === known?.relationship)
      return question('FAMILY_EDIT', answers, {
        title: known ? say`Change this person` : say`Add a person`,
        back: pathBack(visit, name, asked.get('out')),
        body: html`<p class="lead">${say`You name each person once. For each benefit you choose whom it covers.`}</p>
${form(answers, `family/${name}`, [
  known && html`<input type="hidden" name="person" value="${known.dependantid}">`,
  asked.has('out') && html`<input type="hidden" name="out" value="${asked.get('out') ?? ''}">`,
  textField(answers, { input: input('firstname'), label: say`First name` }),
  textField(answers, { input: input('lastname'), label: say`Last name` }),
  selectField(
    answers,
    { input: input('relationship'), label: say`Relationship to you`, size: 'middle' },
    { empty: say`Choose`, list: offered.map(one => [one, say(familyNames[one])]) },
  ),
  birthDateOf(answers, 1, false),
  html`<p class="actions"><button class="primary">${say`Save`}</button>${
    known && html`<button class="secondary" name="remove" value="1">${say`Remove this person`}</button>`
  }</p>`,
])}`,
      })
    },
    post: async (visit, posted) => {
      const cover = askedFor(visit, name)
      if (!cover) return { to: visit.isMember ? 'overview' : '' }
      const id = posted.get('person') ?? undefined
      const person = posted.has('remove') ? undefined : parsePerson(posted, visit.today)
      if (person && isFaulty(person)) return person
      return savePerson(visit, { id, person, cover, to: pathBack(visit, name, posted.get('out')) })
    },
  }
}

/** Where the people of a benefit are chosen. `out`: what a swap would give up for it. */
function pathBack({ user }: Visit, name: string, out: string | null): string {
  const held = heldEnrolment(user, name)
  if (out !== null) return `swap?${new URLSearchParams({ more: '1', out, in: name })}`
  return held && isChangeable(held) ? `cover/${name}` : `benefits?at=${name}#card-${name}`
}

type Field = 'firstname' | 'lastname' | 'relationship' | 'dobmonth'

function input(field: Field): `person${number}.${string}` {
  return `person1.${field}`
}

function fieldsOf({ firstname, lastname, relationship, dob }: Dependant): Readonly<Record<string, string>> {
  const fields = Object.entries({ firstname, lastname, relationship, ...dateFields(dob) })
  return Object.fromEntries(fields.map(([field, value]) => [`person1.${field}`, value]))
}

type Named = Pick<Dependant, 'firstname' | 'lastname' | 'relationship' | 'dob'>

function parsePerson(posted: URLSearchParams, today: string): Parsed<Named> {
  const errors: FieldError[] = []
  const nameIn = (field: 'firstname' | 'lastname') => {
    const text = typed(posted, input(field))
    if (text === '') errors.push({ input: input(field), code: `dependant_${field}` })
    if (text.length > 100) errors.push({ input: input(field), code: 'name_long' })
    return text
  }
  const names = { firstname: nameIn('firstname'), lastname: nameIn('lastname') }
  const relationship = RELATIONSHIPS.find(one => one === posted.get(input('relationship')))
  if (!relationship) errors.push({ input: input('relationship'), code: 'dependant_relationship' })
  const parts = ['dobmonth', 'dobday', 'dobyear'] as const
  const date = new URLSearchParams(
    parts.map((part): [string, string] => [part, typed(posted, beneficiaryInput(1, part))]),
  )
  const born = parseBirthDate(date, today)
  const [wrong] = isFaulty(born) ? born.errors : []
  if (wrong) errors.push({ input: input('dobmonth'), code: wrong.code })
  if (!relationship || isFaulty(born) || errors.length > 0) return { errors }
  return { ...names, relationship, dob: born.dob as Dependant['dob'] }
}

/** The list with somebody added, changed or, without `person`, removed; the same where the same person is named twice. */
function listWith(
  people: readonly Dependant[],
  { id, person, newId }: { id: string | undefined; person: Named | undefined; newId: () => string },
): readonly Dependant[] {
  if (!person) return people.filter(({ dependantid }) => dependantid !== id)
  const isSame = (one: Dependant) =>
    (Object.keys(person) as (keyof Named)[]).every(field => one[field] === person[field])
  if (id === undefined) return people.some(isSame) ? people : [...people, { dependantid: newId(), ...person }]
  return people.map(one => (one.dependantid === id ? { ...one, ...person } : one))
}

type Saved = {
  /** Absent: somebody new. */
  readonly id: string | undefined
  /** Absent: to be removed. */
  readonly person: Named | undefined
  readonly cover: Asked
  readonly to: string
}

/** Keeps the list: a newcomer's in the draft, a member's in the account, at once. */
async function savePerson(visit: Visit, { id, person, cover, to }: Saved): Promise<Posted> {
  const { newId } = visit.terms
  if (!visit.isMember)
    return saveAnswers(visit, { to }, draft => {
      const before = draft.dependants ?? namedPeople(visit)
      return withList(visit, draft, { before, dependants: listWith(before, { id, person, newId }), cover })
    })
  const reply = await changeOwn(visit, {
    why: 'dependants',
    decide: ({ user, person: documentOf, now, terms }) => {
      const profile = documentOf('profile') ?? {}
      const before = profile.dependants ?? []
      const wanted = listWith(before, { id, person, newId: () => '' })
      const changed = setDependantsOf(user, { dependants: wanted as Given }, now, terms())
      if (isRefusal(changed)) return changed
      const { dependants } = changed
      if (changed.user === user) return 'unchanged'
      const draft = withList(visit, draftOf(documentOf('draft')), { before, dependants, cover })
      return {
        user: changed.user,
        events: changed.events,
        documents: { profile: { ...profile, dependants }, draft: { ...draft, dependants: undefined } },
      }
    },
  })
  if (reply === 'done') return { to }
  if (reply === 'dependant_covered' || reply === 'dependant_not_eligible')
    return { errors: [{ input: 'form', code: 'dependant_held' }] }
  return 'gone'
}

type Given = Parameters<typeof setDependantsOf>[1]['dependants']

/** The answers with the new list, and with whoever is new chosen for the benefit beside which they were named. */
function withList(
  visit: Visit,
  draft: Draft,
  {
    before,
    dependants,
    cover,
  }: { before: readonly Dependant[]; dependants: readonly Dependant[]; cover: Asked },
): Draft {
  const after: Draft = { ...draft, dependants }
  const added = dependants.find(one => !before.some(({ dependantid }) => dependantid === one.dependantid))
  const person = { ...visit.person, dependants }
  return added
    ? { ...after, ...alsoCovering({ ...visit, draft: after, person }, cover, added.dependantid) }
    : after
}
