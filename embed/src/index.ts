/** The registration page inside your product (contract §11): `create` makes an embed. */
export { type Changeable, create, type Embed, type Options } from './create.ts'
export {
  type Appearance,
  type ColourName,
  type EnrolmentEvent,
  type ErrorCode,
  type EventContent,
  type Exit,
  type Outcome,
  type Success,
  version,
} from './events.ts'
