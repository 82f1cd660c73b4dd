import { html, type Slot } from '../../http/html.ts'
import type { Right } from '../../operators/operator.ts'
import type { Partner } from '../../partners/partner.ts'
import { record } from '../screen/record.ts'
import {
  type Answer,
  type OperatorVisit,
  onChange,
  onGet,
  onPost,
  reasonOf,
  type Screen,
} from '../screen/screen.ts'
import { actionForm, section } from '../views/parts.ts'

type About = { readonly partner: Partner; readonly serviceId: string }

/** What is done to a user, or shown of one, once a reason is given: a page with one form, and the answer to the form. */
type Reasoned<Of extends About> = {
  readonly path: string
  readonly right: Right
  readonly kind: 'change' | 'look' | 'file'
  readonly title: string
  /** The user. Throws the refusal of one who is not there. */
  readonly find: (visit: OperatorVisit) => Promise<Of>
  readonly whom: (of: Of) => Slot
  readonly asked: (
    visit: OperatorVisit,
    of: Of,
  ) => {
    readonly heading: string
    readonly hint: Slot
    readonly button: string
    readonly fields?: Slot
    /** It cannot be done now, as the hint says. */
    readonly isShut?: boolean
  }
  readonly answer: (visit: OperatorVisit, of: Of, reason: string) => Promise<Answer>
}

/** The two screens of it. The look at the page with the form is on record before it is shown. */
export function reasonedScreens<Of extends About>(one: Reasoned<Of>): readonly Screen[] {
  const ask = async (visit: OperatorVisit): Promise<Answer> => {
    const of = await one.find(visit)
    const { partner, serviceId } = of
    await record(visit, { action: 'look at user', result: 'shown', partner, serviceId })
    const { heading, hint, button, fields, isShut = false } = one.asked(visit, of)
    const action = one.path.replace(/:(\w+)/g, (_, name: string) => visit.params[name] ?? '')
    const form = { action, button, fields, why: 'why', color: 'primary' } as const
    return {
      title: one.title,
      body: html`${one.whom(of)}
${section(
  heading,
  html`${hint}${!isShut && actionForm(visit, one.kind === 'file' ? { ...form, downloads: true } : form)}`,
)}
<p><a href="/users/${serviceId}">Back to the user</a></p>`,
    }
  }
  const answer = async (visit: OperatorVisit) => one.answer(visit, await one.find(visit), reasonOf(visit))
  const post = one.kind === 'change' ? onChange : onPost
  return [onGet(one.path, one.right, ask), post(one.path, one.right, answer)]
}
