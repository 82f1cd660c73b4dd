import type { GivenConsent, State } from './person.ts'

/** The benefits request (interface §2.3, contract §6). */
export type BenefitsRequest = {
  userid: string
  /** In whole years, 0–120. */
  age: number
  /** A USPS code in capitals. */
  state: State
  /** 5 or 9 digits. */
  zipcode: string
  /** `""` or left out: no filter; else one of your own names. */
  partnername?: string
  /** `""` or left out: the user's offer; else one of your offers. */
  offername?: string
}

/** One benefit with its status (interface §2.4, contract §6). */
export type BenefitWithStatus = {
  /** Short code. */
  name: string
  displayname: string
  /** URL of an icon. */
  icon: string
  description: string
  /** `enrolled` when cover is in force at this instant. */
  status: 'notenrolled' | 'enrolled'
  /** `dollar`, `service`, `discount` or `account`. */
  benefittype: string
  /** `productname=…&producttype=…&redirectto=…`, URL-encoded; redirectto is `swap`, `manage`, `enrol` or `details`. */
  deeplinkdata: string
  /** `null`: cannot be swapped; `true`: picked to come in or to go out. */
  isselectedforswap: boolean | null
  /** When it comes in, `YYYY-MM-DDTHH:mm:ss.sssZ`. */
  swapeffectiveattimestamp: string | null
  /** When it goes out, `YYYY-MM-DDTHH:mm:ss.sssZ`. */
  swapexpiresattimestamp: string | null
}

/** What a swap asks for (contract §8): `add[i]` is paired with `remove[i]`, further adds use free slots. */
export type SwapRequest = {
  userid: string
  add: string[]
  remove: string[]
  /** Answers what would be and changes nothing. */
  previewonly?: boolean
}

/** A pending swap, or what it would be (contract §8). Timestamps are `YYYY-MM-DDTHH:mm:ss.sssZ`. */
export type Swap = {
  userid: string
  serviceid: string
  add: string[]
  remove: string[]
  /** When it takes effect. */
  boundarytimestamp: string
  /** Until when it can be changed or undone. */
  lockedattimestamp: string
}

/** The request to enrol in one benefit (contract §8). */
export type EnrolRequest = {
  userid: string
  /** The benefit's short code. */
  name: string
  consents?: GivenConsent[]
}

/** The request to decline one benefit (contract §8). */
export type DeclineRequest = {
  userid: string
  /** The benefit's short code. */
  name: string
  /** At most 200 characters. */
  reason?: string
}
