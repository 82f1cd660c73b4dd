import { orNull, shape } from './shape.ts'
import { states } from './states.ts'
import { type Static, Type } from './typebox.ts'

// `x-rule` completes the sentence "<field> …" in the message of a 400; a message never carries the value.

// Format characters are invisible or turn the direction of text: two userids that look alike would be two people.
const hidden =
  '\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb'

/** The partner's identifier of a user (contract §1, §5). */
export const Userid = Type.String({
  minLength: 1,
  maxLength: 128,
  // Without looking ahead, which the regular expressions of Go and Rust lack: what is not a dot comes first, second or third.
  pattern: `^([^.${hidden}]|\\.[^.${hidden}]|\\.\\.[^${hidden}])[^${hidden}]*$`,
  'x-rule':
    'must be 1 to 128 characters without control characters, invisible characters and those that turn the direction of text, and not "." or ".."',
  description:
    "The partner's identifier of the user; case-sensitive. Never an e-mail address or a name: it is kept in clear and sent in paths and webhooks",
})

function line(maxLength: number) {
  return {
    maxLength,
    pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
    'x-rule': `must be at most ${maxLength} characters without control characters`,
  }
}
function text(maxLength: number, description: string) {
  return Type.String({ ...line(maxLength), description })
}

const zipRule = 'must be 5 or 9 digits, like 33101'

/** The forms of texts, in which "" means not given. */
export const forms = {
  email: {
    pattern: '^(|[^@\\s]+@[^@\\s.]+(\\.[^@\\s.]+)+)$',
    maxLength: 254,
    'x-rule':
      'must be an e-mail address of at most 254 characters with one @ and a domain, like name@example.com',
  },
  zipcode: { pattern: '^(|[0-9]{5}|[0-9]{9})$', 'x-rule': zipRule },
  phone: {
    pattern: '^(|[0-9]{10,15})$',
    'x-rule': 'must be 10 to 15 digits alone, like 3055550199, without spaces, brackets or hyphens',
  },
  dob: {
    pattern: '^(|[0-9]{4}-[0-9]{2}-[0-9]{2})$',
    format: 'birthdate',
    'x-rule': 'must be a real date YYYY-MM-DD from 1900-01-01 to today',
  },
} as const

const genders = ['M', 'F', 'X', 'U', 'N', 'O'] as const
const genderRule = 'must be one of M, F, X, U, N, O'
const stateRule = 'must be a two-letter USPS code in capitals, like FL'

/** A text of at most this many characters that may be left out; a rule of its own takes the place of that of its length. */
export function optionalText(
  maxLength: number,
  more: { readonly description?: string; readonly 'x-rule'?: string } = {},
) {
  return Type.Optional(
    Type.String({ maxLength, 'x-rule': `must be at most ${maxLength} characters`, ...more }),
  )
}

/** The postal code in requests that require one. */
export const RequiredZipcode = Type.String({
  pattern: '^([0-9]{5}|[0-9]{9})$',
  'x-rule': zipRule,
  description: 'Postal code, 5 or 9 digits',
})

/** The state in requests that require one. */
export const RequiredState = Type.Enum([...states], { 'x-rule': stateRule, description: 'USPS code' })

/** The person's state in requests where it may be left out; the state of the address then counts. */
export const OptionalState = Type.Optional(
  Type.Enum([...states, ''], {
    'x-rule': stateRule,
    description: 'USPS code; absent: the one of the address',
  }),
)

/** The partner's own name where it has no other effect than to be checked (contract §7). */
export const OwnName = optionalText(200, { description: 'One of your own names; without effect' })

/** The person's state in Update User. */
export const UpdatedState = Type.Optional(
  Type.Unsafe<(typeof states)[number] | '' | null>({ enum: [...states, '', null], 'x-rule': stateRule }),
)

/** An address (interface §2.2); `""` means not given. */
export const Address = shape(
  'Address',
  {
    addline1: Type.Optional(text(100, 'Street and number')),
    addline2: Type.Optional(text(100, 'May be empty')),
    addline3: Type.Optional(text(100, 'May be empty; the urbanization in Puerto Rico')),
    city: Type.Optional(text(60, 'City')),
    state: Type.Optional(Type.Enum([...states, ''], { 'x-rule': stateRule, description: 'USPS code' })),
    zipcode: Type.Optional(
      Type.String({
        ...forms.zipcode,
        description: 'Postal code, 5 or 9 digits',
      }),
    ),
  },
  { 'x-rule': 'must be an object' },
)

/** The fields of a prefill record other than `userid` (interface §2.1); all optional, `""` means not given. */
export const personFields = {
  firstname: Type.Optional(text(100, 'Given name')),
  lastname: Type.Optional(text(100, 'Family name')),
  email: Type.Optional(Type.String({ ...forms.email, description: 'E-mail address' })),
  zipcode: Type.Optional(Type.String({ ...forms.zipcode, description: 'Postal code, 5 or 9 digits' })),
  dob: Type.Optional(Type.String({ ...forms.dob, description: 'Birth date, YYYY-MM-DD' })),
  phone: Type.Optional(Type.String({ ...forms.phone, description: '10 to 15 digits' })),
  gender: Type.Optional(
    Type.Enum([...genders, ''], { 'x-rule': genderRule, description: 'Single-letter code' }),
  ),
  address: Type.Optional(Address),
}

function nullable(schema: Record<string, unknown>) {
  return Type.Unsafe<string | null>({ ...schema, type: ['string', 'null'] })
}

/** The fields of Update User: absent and `""` mean unchanged, `null` clears (contract §2). */
export const updatedFields = {
  firstname: Type.Optional(nullable(line(100))),
  lastname: Type.Optional(nullable(line(100))),
  email: Type.Optional(nullable(forms.email)),
  zipcode: Type.Optional(nullable(forms.zipcode)),
  dob: Type.Optional(nullable(forms.dob)),
  phone: Type.Optional(nullable(forms.phone)),
  gender: Type.Optional(
    Type.Unsafe<(typeof genders)[number] | '' | null>({
      enum: [...genders, '', null],
      'x-rule': genderRule,
    }),
  ),
  address: Type.Optional(
    Type.Unsafe<{ [K in keyof Static<typeof Address>]?: Static<typeof Address>[K] | null } | null>({
      title: 'AddressChange',
      type: ['object', 'null'],
      additionalProperties: false,
      'x-rule': 'must be an object, or null to clear it',
      properties: {
        addline1: nullable(line(100)),
        addline2: nullable(line(100)),
        addline3: nullable(line(100)),
        city: nullable(line(60)),
        state: { enum: [...states, '', null], 'x-rule': stateRule },
        zipcode: nullable(forms.zipcode),
      },
    }),
  ),
}

const detailNames = { pattern: '^[a-z0-9]{1,32}$' }
const detailRule = {
  'x-rule': 'must be an object of texts; each name has 1 to 32 lower-case letters and digits',
  description: `Your own facts of a user, by name: at most 20 names of 1 to 32 lower-case letters and digits. They come back in statements; no rule reads them`,
}

/** A partner's own facts of a user in a request (contract §7); names with `""` are left out. */
export const MoreDetails = Type.Unsafe<Record<string, string>>({
  type: 'object',
  title: 'MoreDetails',
  ...detailRule,
  propertyNames: { ...detailNames, ...detailRule },
  additionalProperties: { type: 'string', ...line(200) },
})

/** The same in Update User: names are added or replaced, `""` and null remove one, null for the whole removes all. */
export const UpdatedMoreDetails = Type.Unsafe<Record<string, string | null> | null>({
  type: ['object', 'null'],
  title: 'MoreDetailsChange',
  ...detailRule,
  propertyNames: { ...detailNames, ...detailRule },
  additionalProperties: nullable(line(200)),
})

/** A short code of a benefit or an offer in a request. */
export const CodeName = Type.String({
  minLength: 1,
  maxLength: 64,
  'x-rule': 'must be 1 to 64 characters',
  description: 'A short code of the catalogue',
})

/** A list of benefit names, each once. */
export const BenefitNames = Type.Array(CodeName, {
  maxItems: 200,
  uniqueItems: true,
  'x-rule': 'must be a list of at most 200 different benefit names',
})

/** An instant in the API: `YYYY-MM-DDTHH:mm:ss.sssZ` (contract §2). */
export const Timestamp = Type.String({
  format: 'date-time',
  description: 'UTC with milliseconds, YYYY-MM-DDTHH:mm:ss.sssZ',
})
/** An instant, or null when there is none. */
export const OptionalTimestamp = orNull(Timestamp)

const timestampRule = 'must be a timestamp YYYY-MM-DDTHH:mm:ss.sssZ'

/** The form of an instant in a request where `""` is refused: any of RFC 3339, because generated clients write it in several. */
export const requiredTimestamp = { format: 'date-time', 'x-rule': timestampRule } as const

/** An instant in a request; `""` means not given. */
export const SentTimestamp = Type.String({
  pattern: '^(|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z)$',
  format: 'timestamp',
  'x-rule': timestampRule,
  description: 'UTC with milliseconds, YYYY-MM-DDTHH:mm:ss.sssZ',
})

/** A calendar date in a request; `""` means not given. */
export const PlainDate = Type.String({
  pattern: '^(|[0-9]{4}-[0-9]{2}-[0-9]{2})$',
  format: 'plaindate',
  'x-rule': 'must be a real date YYYY-MM-DD',
})

/** A consent that the user gave (contract §7). */
export const GivenConsent = shape(
  'GivenConsent',
  {
    name: CodeName,
    version: Type.String({
      minLength: 1,
      maxLength: 64,
      'x-rule': 'must be the version of the consent text, 1 to 64 characters',
    }),
    agreedattimestamp: Type.Optional(SentTimestamp),
    locale: Type.Optional(Type.Enum(['en', 'es', ''], { 'x-rule': 'must be en or es' })),
  },
  { 'x-rule': 'must be an object with name and version' },
)

/** Consents in a request. */
export const GivenConsents = Type.Array(GivenConsent, {
  maxItems: 200,
  'x-rule': 'must be a list of consents',
})
