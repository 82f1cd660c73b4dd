import { CreateUser, dependantFields, MOST_DEPENDANTS, type Static, Type } from '@benefit-enrolment/contract'
import type { PlainDate } from '../calendar/calendar.ts'
import { ServiceError } from '../http/service-error.ts'
import { compileCheck } from '../http/validation.ts'
import type { Dependant } from '../membership/rules/dependant.ts'
import { type Person, personSent } from '../membership/rules/person.ts'

// Benefits, consents and dependants have a form of their own here; of effectivedate, `offersince` says since when.
const {
  benefits: _benefits,
  consents: _consents,
  dependants: _dependants,
  effectivedate: _date,
  ...fields
} = CreateUser.properties
const name = Type.String({ minLength: 1, maxLength: 64 })
const date = Type.String({ format: 'plaindate' })

/** A member of a file: the fields of create, with original dates (contract §18). */
const ImportedLine = Type.Object(
  {
    ...fields,
    offersince: date,
    benefits: Type.Optional(
      Type.Array(
        Type.Object(
          {
            name,
            startson: Type.Optional(date),
            memberid: Type.Optional(Type.String({ maxLength: 64, pattern: '^[!-~]*$' })),
          },
          { additionalProperties: false },
        ),
        { maxItems: 200 },
      ),
    ),
    dependants: Type.Optional(
      Type.Array(
        Type.Object(
          {
            ...dependantFields,
            benefits: Type.Optional(
              Type.Array(
                Type.Object({ name, startson: Type.Optional(date) }, { additionalProperties: false }),
                { maxItems: 200 },
              ),
            ),
          },
          { additionalProperties: false },
        ),
        { maxItems: MOST_DEPENDANTS },
      ),
    ),
    consents: Type.Optional(
      Type.Array(
        Type.Object(
          {
            name,
            version: name,
            agreedat: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}(T.*)?$' }),
            evidence: Type.String({ minLength: 3, maxLength: 500 }),
          },
          { additionalProperties: false },
        ),
        { maxItems: 200 },
      ),
    ),
  },
  { additionalProperties: false },
)

/** A member as a file describes it. */
export type ImportedMember = {
  readonly userid: string
  /** A name of the partner, or none. */
  readonly partnername: string | undefined
  readonly person: Person
  readonly offer: string | undefined
  readonly since: PlainDate
  readonly benefits: readonly ImportedBenefit[]
  readonly consents: readonly ImportedConsent[]
  readonly dependants: readonly ImportedDependant[]
}

/** A dependant of a member, and the benefits that cover it: from an own first day, or with the benefit. */
export type ImportedDependant = Omit<Dependant, 'dependantid'> & {
  readonly benefits: readonly { readonly name: string; readonly startsOn: PlainDate | undefined }[]
}

/** A benefit that a member holds, and its first day. */
export type ImportedBenefit = { readonly name: string; readonly startsOn: PlainDate }

/** A consent that was given elsewhere, and where its evidence is kept. */
export type ImportedConsent = {
  readonly name: string
  readonly version: string
  readonly agreedAt: string
  readonly evidence: string
}

/** What is wrong with a line: the field and a code, never a value. */
export type Fault = { readonly field: string; readonly code: string }

const check = compileCheck(ImportedLine, 'line')

/** A field that is no person's is typed so that no value fits it. */
type PersonalOnly<Given> = { [Field in keyof Given]: Field extends keyof Person ? unknown : never }

/**
 * The person of a line. Of what create has, whatever is not read by its name comes here: a new field that is neither used nor
 * left out of the form above does not compile, because it would be lost in silence.
 */
export function personIn<Given extends PersonalOnly<Given>>(given: Given): Person {
  return personSent(given as Parameters<typeof personSent>[0])
}

/** A benefit may be its bare name. */
function withNamedBenefits(line: unknown): unknown {
  const { benefits } = (line ?? {}) as { benefits?: unknown }
  if (!Array.isArray(benefits)) return line
  return {
    ...(line as object),
    benefits: benefits.map(one => (typeof one === 'string' ? { name: one } : one)),
  }
}

/** Reads a member; a list of faults where the line does not fit the fields. */
export function readMember(line: unknown): ImportedMember | readonly Fault[] {
  let checked: Static<typeof ImportedLine>
  try {
    checked = check(withNamedBenefits(line)) as Static<typeof ImportedLine>
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return error.errors.map(({ field, code }) => ({ field, code }))
  }
  const { userid, partnername, offersince, offername, ...rest } = checked
  const { benefits = [], consents = [], dependants = [], ...personal } = rest
  if (offersince === '') return [{ field: 'offersince', code: 'required' }]
  const since = offersince as PlainDate
  const twice = [
    ...repeatsIn('benefits', benefits),
    ...dependants.flatMap((one, index) => repeatsIn(`dependants[${index}].benefits`, one.benefits ?? [])),
  ]
  if (twice.length > 0) return twice.map(field => ({ field, code: 'duplicate' }))
  const person = personIn(personal)
  const memberids = benefits.flatMap(one => (one.memberid ? [[one.name, one.memberid]] : []))
  return {
    userid,
    partnername,
    person: memberids.length > 0 ? { ...person, memberids: Object.fromEntries(memberids) } : person,
    offer: offername || undefined,
    since,
    benefits: benefits.map(one => ({ name: one.name, startsOn: (one.startson || since) as PlainDate })),
    consents: consents.map(({ agreedat, ...one }) => ({ ...one, agreedAt: agreedat })),
    dependants: dependants.map(({ benefits: covering = [], gender, dob, ...one }) => ({
      ...{ ...one, dob: dob as PlainDate },
      ...(gender && { gender }),
      benefits: covering.map(({ name: benefit, startson }) => ({
        name: benefit,
        startsOn: startson ? (startson as PlainDate) : undefined,
      })),
    })),
  }
}

/** The places of benefits that stand before in the same list. */
function repeatsIn(list: string, benefits: readonly { readonly name: string }[]): string[] {
  return benefits.flatMap(({ name: own }, index) =>
    benefits.findIndex(other => other.name === own) < index ? [`${list}[${index}]`] : [],
  )
}
