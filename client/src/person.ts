/** USPS two-letter codes: states, DC, territories, military (contract §5). */
export type State =
  | ('AL' | 'AK' | 'AZ' | 'AR' | 'CA' | 'CO' | 'CT' | 'DE' | 'FL' | 'GA' | 'HI' | 'ID' | 'IL' | 'IN' | 'IA')
  | ('KS' | 'KY' | 'LA' | 'ME' | 'MD' | 'MA' | 'MI' | 'MN' | 'MS' | 'MO' | 'MT' | 'NE' | 'NV' | 'NH' | 'NJ')
  | ('NM' | 'NY' | 'NC' | 'ND' | 'OH' | 'OK' | 'OR' | 'PA' | 'RI' | 'SC' | 'SD' | 'TN' | 'TX' | 'UT' | 'VT')
  | ('VA' | 'WA' | 'WV' | 'WI' | 'WY')
  | ('DC' | 'AS' | 'GU' | 'MP' | 'PR' | 'VI' | 'UM' | 'FM' | 'MH' | 'PW' | 'AA' | 'AE' | 'AP')

/** An address (interface §2.2); every field may be left out, `""` means not given. */
export type Address = {
  /** Street and number, at most 100 characters. */
  addline1?: string
  /** At most 100 characters, may be empty. */
  addline2?: string
  /** At most 100 characters, may be empty; the urbanization in Puerto Rico. */
  addline3?: string
  /** At most 60 characters. */
  city?: string
  /** A USPS code in capitals. */
  state?: State | ''
  /** 5 or 9 digits. */
  zipcode?: string
}

/** The data of a person (interface §2.1, contract §5); every field may be left out, `""` means not given. */
export type PersonFields = {
  /** At most 100 characters. */
  firstname?: string
  /** At most 100 characters. */
  lastname?: string
  /** At most 254 characters, one `@` and a domain. */
  email?: string
  /** 5 or 9 digits. */
  zipcode?: string
  /** A real date `YYYY-MM-DD` from 1900-01-01 to today. */
  dob?: string
  /** 10 to 15 digits. */
  phone?: string
  /** A single-letter code. */
  gender?: 'M' | 'F' | 'X' | 'U' | ''
  address?: Address
}

/** Names a user of yours. */
export type UseridRequest = {
  /** Your identifier of the user: 1–128 characters, case-sensitive, no control characters, not `.` or `..`. */
  userid: string
}

/** The prefill record (interface §2.1); only `userid` is required (contract §5). */
export type Prefill = UseridRequest & PersonFields

/** A consent that the user gave (contract §7). */
export type GivenConsent = {
  /** The name of the consent, a code of the catalogue. */
  name: string
  /** The version of the text that was shown, 1–64 characters. */
  version: string
  /** When, `YYYY-MM-DDTHH:mm:ss.sssZ`; left out: now. */
  agreedattimestamp?: string
  /** The language in which it was shown. */
  locale?: 'en' | 'es' | ''
}

/**
 * The request of Create User (contract §7), merged with an existing prefill: the request wins, a given address
 * replaces the stored one whole. After merging, firstname, lastname, email, dob, state and zipcode must be there.
 */
export type CreateUser = UseridRequest &
  PersonFields & {
    /** A USPS code in capitals; left out: the one of the address. */
    state?: State | ''
    /** The offer to start with; may be left out only when you have a single one. */
    offername?: string
    /** First picks among the selectable benefits of the offer, at most 200 names, each once. */
    benefits?: string[]
    /** At most 200. */
    consents?: GivenConsent[]
    /** `YYYY-MM-DD`: its first instant in your time zone, at most 90 days ahead; left out: now. */
    effectivedate?: string
  }

/** The request of Update User (contract §7): left out or `""` means unchanged, `null` clears. */
export type UpdateUser = UseridRequest & {
  [Field in Exclude<keyof PersonFields, 'address'>]?: string | null
} & {
  /** A USPS code in capitals. */
  state?: string | null
  /** Its fields follow the same rule; `null` clears the whole address. */
  address?: { [Field in keyof Address]?: string | null } | null
}
