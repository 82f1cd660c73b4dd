import type { PlainDate } from '../../calendar/calendar.ts'
import type { Relationship } from '../../catalogue/model.ts'

/** Somebody whom a benefit may cover beside the member. */
export type Dependant = {
  readonly dependantid: string
  readonly relationship: Relationship
  readonly firstname: string
  readonly lastname: string
  readonly dob: PlainDate
  readonly gender?: string
}
