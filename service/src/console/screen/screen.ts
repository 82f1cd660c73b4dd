import { isRealDate, type PlainDate, type Zone } from '../../calendar/calendar.ts'
import type { Slot } from '../../http/html.ts'
import type { Operator, Right } from '../../operators/operator.ts'
import type { OpenSession } from '../../operators/sign-in.ts'
import type { ConsoleContext } from '../console-context.ts'

/** One request of an operator who is signed in and whose role is sufficient for the screen. */
export type OperatorVisit = {
  readonly context: ConsoleContext
  readonly operator: Operator
  /** Whether the operator's role has a right. */
  readonly may: (right: Right) => boolean
  /** The names of the operator's partners by their ids, in the order of the names. */
  readonly partnerNames: ReadonlyMap<string, string>
  /** The time zone of one of these partners. */
  readonly zoneOf: (partnerId: string) => Zone
  /** The zone that all of them share, or UTC: for what concerns no partner. */
  readonly zone: Zone
  /** How many requests of others wait for a second person; 0 for whoever may not decide any. */
  readonly waiting: number
  readonly session: OpenSession
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** The posted fields; empty for a GET. */
  readonly form: URLSearchParams
  readonly requestId: string
  readonly address: string
  /** The path of the screen; `undefined` on a page that is no screen. */
  readonly path: string | undefined
}

/** A page inside the console's layout. */
export type ConsolePage = {
  /** Browsers keep it in their history, so it names no person. */
  readonly title: string
  /** The heading of the page; absent: its title. */
  readonly heading?: string
  readonly body: Slot
  readonly status?: number
}

/** A file, whole or in parts that are made while it is sent. */
export type FileAnswer = {
  readonly file: string
  readonly type: string
  readonly content: string | AsyncIterable<string>
}

/** The answer of a screen: a page, a redirect, or a file. */
export type Answer = ConsolePage | { readonly to: string } | FileAnswer

/** One address of the console. */
export type Screen = {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** The right that it takes. */
  readonly right: Right
  /**
   * The screen makes a change, which a quiet copy and a full disk refuse. Looking at data, and recording that, is no
   * change.
   */
  readonly changes?: true
  readonly answer: (visit: OperatorVisit) => Promise<Answer>
}

/** A screen that is looked at, or a file. */
export function onGet(path: string, right: Right, answer: Screen['answer']): Screen {
  return { method: 'GET', path, right, answer }
}

/** A screen that a form asks for, and that changes nothing. */
export function onPost(path: string, right: Right, answer: Screen['answer']): Screen {
  return { method: 'POST', path, right, answer }
}

/** A form that makes a change. */
export function onChange(path: string, right: Right, answer: Screen['answer']): Screen {
  return { ...onPost(path, right, answer), changes: true }
}

/** A refusal that an operator reads as a page. */
export class ConsoleRefusal extends Error {
  override name = 'ConsoleRefusal'
  readonly status: number
  readonly heading: string

  constructor(status: number, heading: string, text: string) {
    super(text)
    this.status = status
    this.heading = heading
  }
}

/** The thing does not exist, or belongs to a partner for which the operator does not work: the words are the same. */
export function notHere(what: string): ConsoleRefusal {
  return new ConsoleRefusal(
    404,
    'Not found',
    `There is no ${what} here, or it belongs to a partner that you do not work for.`,
  )
}

/** The operator's reason, from the form. Throws a refusal when it is missing. */
export function reasonOf({ form }: Pick<OperatorVisit, 'form'>): string {
  const reason = (form.get('reason') ?? '').trim()
  if (reason.length >= 3 && reason.length <= 300) return reason
  throw new ConsoleRefusal(422, 'Say why', 'A reason of 3 to 300 characters is needed; it goes on record.')
}

/** The choice of a form's field. Throws a refusal when it is not one of those offered. */
export function choiceOf<Choice extends string>(
  { form }: Pick<OperatorVisit, 'form'>,
  name: string,
  offered: Readonly<Record<Choice, unknown>>,
): Choice {
  const [chosen = '', ...others] = form.getAll(name)
  if (others.length === 0 && Object.hasOwn(offered, chosen)) return chosen as Choice
  throw new ConsoleRefusal(
    422,
    'Choose again',
    `The field ${name} takes one of: ${Object.keys(offered).join(', ')}.`,
  )
}

/**
 * Whether a text is a day that an operator can ask for, from 1900 to 2999: days near the year 0000 or 9999 have no day
 * before or after them that PostgreSQL and the API could write.
 */
export function isAskedDay(text: string): text is PlainDate {
  return isRealDate(text) && text >= '1900' && text < '3000'
}
