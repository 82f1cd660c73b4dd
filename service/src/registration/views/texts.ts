import type { Relationship } from '@benefit-enrolment/contract'
import type { DetailsGroup } from './parts.ts'
import { later } from './say.ts'

/** The groups of details, as a person calls them. */
export const groupNames: Readonly<Record<DetailsGroup, string>> = {
  name: later`Name`,
  dob: later`Date of birth`,
  contact: later`Email and phone`,
  address: later`Address`,
  gender: later`Gender`,
}

/** The genders that can be answered, and those that a partner can have sent. */
export const genderNames: Readonly<Record<string, string>> = {
  F: later`Female`,
  M: later`Male`,
  X: later`Another gender`,
  N: later`Nonbinary`,
  O: later`Other`,
  U: later`I prefer not to say`,
}

/** What somebody is to the person who names them. */
export const relationshipNames: Readonly<Record<Relationship, string>> = {
  spouse: later`Spouse`,
  partner: later`Partner`,
  child: later`Child`,
  parent: later`Parent`,
  sibling: later`Brother or sister`,
  relative: later`Another relative`,
  friend: later`Friend`,
  trust: later`Trust`,
  estate: later`My estate`,
  other: later`Someone else`,
}

/** What is wrong with an input, by the error's code; `{1}` is its number. */
export const errorTexts = {
  firstname_missing: later`Enter your first name`,
  lastname_missing: later`Enter your last name`,
  name_long: later`A name can have up to 100 characters`,
  dob_invalid: later`Date of birth must be a real date, for example March 27, 1990`,
  dob_future: later`Date of birth must be in the past`,
  dob_early: later`Date of birth must be in 1900 or later`,
  dob_mismatch: later`This does not match the date of birth we have. You have {1} tries left`,
  dob_mismatch_last: later`This does not match the date of birth we have. You have 1 try left`,
  email_invalid: later`Enter an email address like name@example.com`,
  phone_invalid: later`Enter a phone number with 10 to 15 digits`,
  zipcode_invalid: later`ZIP code must be 5 or 9 digits, like 33101`,
  state_missing: later`Choose your state`,
  line_long: later`This line can have up to {1} characters`,
  gender_unknown: later`Choose one of the answers`,
  benefits_missing: later`Choose at least one benefit`,
  benefits_many: later`Choose up to {1} benefits, not more`,
  benefits_many_for_one: later`Choose only 1 benefit`,
  benefit_unavailable: later`One of the benefits you chose is no longer available. Choose again`,
  swap_missing: later`Choose the benefit to swap`,
  swap_in_missing: later`Choose the benefit you want instead`,
  swap_add_missing: later`Choose a benefit`,
  offer_missing: later`Choose a plan`,
  when_missing: later`Choose when your benefits should end`,
  consent_missing: later`Select the box to agree before enrolling`,
  consent_unconfirmed: later`Select the box to agree before you confirm`,
  beneficiary_name: later`Enter a name of up to 200 characters for person {1}`,
  beneficiary_relationship: later`Choose the relationship of person {1} to you`,
  beneficiary_share: later`Enter a share from 1 to 100 for person {1}, without decimals`,
  beneficiary_dob: later`Enter a real date of birth for person {1}, or leave it empty`,
  beneficiary_dob_future: later`The date of birth of person {1} must be in the past`,
  beneficiary_dob_early: later`The date of birth of person {1} must be in 1900 or later`,
  beneficiary_contact: later`The phone number or address of person {1} can have up to 200 characters`,
  dependant_firstname: later`Enter the first name`,
  dependant_lastname: later`Enter the last name`,
  dependant_relationship: later`Choose what this person is to you`,
  dependant_held: later`A benefit covers this person and does not allow this change. Change who is covered first`,
  cover_one_spouse: later`Choose only one spouse or partner`,
  cover_many: later`Choose up to {1} children, not more`,
  cover_many_one: later`Choose only 1 child`,
  cover_refused: later`This benefit cannot cover one of the people you chose. Choose again`,
  primary_missing: later`Name at least one person who is no backup`,
  primary_shares: later`The shares add up to {1}%. Make it 100%`,
  contingent_shares: later`The shares of the backups add up to {1}%. Make it 100%`,
}

/** What a person can do instead of agreeing; `{1}` is what is wrong. */
export const wayOutTexts = {
  without: later`{1}, or go back and choose without this benefit`,
  otherbenefit: later`{1}, or go back and choose another benefit`,
  otherplan: later`{1}, or go back and choose another plan`,
  keepplan: later`{1}, or go back and keep your plan`,
}
