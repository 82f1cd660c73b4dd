import type { Slot } from '../../http/html.ts'
import type { ConsoleContext } from '../console-context.ts'
import type { Operator, Role } from '../operators/operator.ts'
import type { OpenSession } from '../operators/sign-in.ts'

/** A file that an operator's form brought: from which field, and by which name. */
export type UploadedFile = { readonly field: string; readonly name: string; readonly content: Buffer }

/** One exchange with an operator who is signed in and whose role is enough for the screen. */
export type Visit = {
  readonly context: ConsoleContext
  readonly operator: Operator
  readonly session: OpenSession
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** What was typed; empty of a GET. */
  readonly form: URLSearchParams
  /** The files of a form that brings some. */
  readonly files: readonly UploadedFile[]
  readonly requestId: string
  readonly address: string
  /** The console's own address, as the browser has it. */
  readonly origin: string
  /** Which entry of the navigation the screen belongs to. */
  readonly section: string
}

/** A page within the frame of the console. */
export type Page = {
  readonly title: string
  readonly body: Slot
  readonly status?: number
}

/** What a screen answers: a page, another address, or a file. */
export type Answer =
  | Page
  | { readonly to: string }
  | { readonly file: string; readonly type: string; readonly content: string }

/** One address of the console. */
export type Screen = {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** The least role that may see it; others are refused. */
  readonly role: Role
  /** The first part of the path that stands in the navigation. */
  readonly section: string
  /** It changes something, which a quiet copy and a full disk refuse; to look, and to be on record for it, is no change. */
  readonly changes?: true
  /** Its form brings files, or a draft as large as files; absent: a few short fields. */
  readonly takes?: 'files' | 'draft'
  readonly answer: (visit: Visit) => Promise<Answer>
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

/** Nothing of this name, or of a partner that the operator does not work for: both in the same words. */
export function notHere(what: string): ConsoleRefusal {
  return new ConsoleRefusal(
    404,
    'Not found',
    `There is no ${what} here, or it belongs to a partner that you do not work for.`,
  )
}
