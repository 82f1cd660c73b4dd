import type { Visit } from '../session/visit.ts'
import type { Faults } from '../views/faults.ts'
import type { View } from '../views/layout.ts'

/** The input of a view besides the visit: what was typed or asked for, and what is wrong with it. */
export type Typed = {
  /** The posted form, or the query of a `GET`. */
  readonly form: URLSearchParams
  /** The form, if it was posted: the view then shows what was typed instead of what is stored. */
  readonly posted?: URLSearchParams
  readonly errors?: Faults['errors']
  /** The form that was not taken, because something had changed since its view was made. */
  readonly conflict?: URLSearchParams
}

/** Sends the browser to another path below the page's root. */
export type Redirect = { readonly to: string }

/** The result of a posted form: a redirect, or its own view is shown again with the errors. */
export type Posted =
  | Redirect
  | Faults
  /** The answers were changed elsewhere: the newest are shown. */
  | 'conflict'
  /** The same view again with what was typed, because a button of the form only adds or removes rows. */
  | 'again'
  /** The user no longer exists. */
  | 'gone'

/** The result of asking for a path. */
type Shown = View | Redirect | 'gone'

/** One path of the page. */
export type Step = {
  /** The view of this path, or the path to go to when this person has nothing to do here; `gone`: the session has ended. */
  readonly show: (visit: Visit, typed: Typed) => Shown | Promise<Shown>
  readonly post?: (visit: Visit, form: URLSearchParams) => Posted | Promise<Posted>
}

/** Whether a step sends the browser elsewhere. */
export function isRedirect(shown: Shown): shown is Redirect {
  return typeof shown === 'object' && !('view' in shown)
}

/** Whether a form was made from a view with another tag than this one (`shownTag`); a form without a tag passes. */
export function showedOther(form: URLSearchParams, tag: string): boolean {
  const shown = /^[^-]*-([0-9a-f]+)$/.exec(form.get('draft') ?? '')?.[1]
  return shown !== undefined && shown !== tag
}
