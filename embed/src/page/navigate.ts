import { session } from './session.ts'

/** A request for a view. */
export type Request = {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly body?: URLSearchParams
  /** True when no person asked for the view: if the session has ended, that is shown and the session is not renewed. */
  readonly passive?: boolean
  /** True when the browser's back or forward button asked for the view. */
  readonly moved?: boolean
}

const hosted = document.documentElement.dataset['shell'] !== 'frame'
let underWay = false

/** Handles links and forms by script, so that a lost connection loses no input and the focus follows the view. */
export function watchNavigation(): void {
  addEventListener('submit', event => {
    const form = event.target
    if (!(form instanceof HTMLFormElement)) return
    if (form.dataset['plain'] !== undefined) {
      if (form.ariaBusy) event.preventDefault()
      form.ariaBusy = 'true'
      return
    }
    event.preventDefault()
    submit(form, event.submitter)
  })
  addEventListener('click', event => {
    const link = event.target instanceof Element ? event.target.closest('a') : null
    if (!link || link.target || link.dataset['plain'] !== undefined) return
    if (event.ctrlKey || event.metaKey || event.shiftKey || link.origin !== location.origin) return
    event.preventDefault()
    if (link.getAttribute('href')?.startsWith('#')) focusOn(link.hash.slice(1))
    else void visit({ url: link.href, method: 'GET' })
  })
  if (!hosted) return
  addEventListener('popstate', () => void visit({ url: location.href, method: 'GET', moved: true }))
  addEventListener('pageshow', () => {
    for (const form of document.forms) form.ariaBusy = null
  })
}

/**
 * Requests a view and shows it; ignored while another request is under way. After a failure the page stays as it is
 * and offers to try again.
 */
export async function visit(request: Request): Promise<void> {
  if (underWay) return
  setBusy(true)
  try {
    const response = await ask(request)
    const html = await response.text()
    if (!/^text\/html/.test(response.headers.get('content-type') ?? '')) throw new TypeError('not a page')
    const renewed = response.status === 401 && !request.passive && (await session.listener?.renew())
    setBusy(false)
    if (renewed) await visit(request)
    else show(html, response.url, request.moved)
  } catch {
    setBusy(false)
    offerRetry(() => visit(request))
  }
}

/** Replaces the present view by another and moves the focus to its heading, or to its list of problems. */
export function show(html: string, url?: string, moved?: boolean): void {
  const parsed = new DOMParser().parseFromString(html, 'text/html')
  const page = parsed.getElementById('page')
  if (!page) throw new TypeError('not a page of ours')
  document.getElementById('page')?.replaceWith(page)
  document.title = parsed.title
  document.documentElement.lang = parsed.documentElement.lang
  setStyles([...parsed.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]')].map(link => link.href))
  if (hosted && url && !moved && url !== location.href) history.pushState(null, '', url)
  scrollTo(0, 0)
  say('')
  if (session.mayFocus) focusFirst()
  session.mayFocus = true
  readSignals()
}

/** Tells the host which view is shown, and shows the buttons that only work with a script. */
export function readSignals(): void {
  for (const button of document.querySelectorAll<HTMLElement>('[data-print]')) button.hidden = false
  const main = document.getElementById('main')
  if (main) session.listener?.shown(main)
}

function focusFirst(): void {
  const first =
    document.getElementById('problem') ??
    document.querySelector<HTMLElement>('[data-focus]') ??
    document.querySelector('h1')
  first?.focus()
}

/** Sets the page's style sheets to exactly these; those that are loaded already stay. */
function setStyles(addresses: readonly string[]): void {
  const now = [...document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]')]
  for (const address of addresses) {
    if (now.some(link => link.href === address)) continue
    const link = document.createElement('link')
    link.rel = 'stylesheet'
    link.href = address
    document.head.append(link)
  }
  for (const link of now) if (!addresses.includes(link.href)) link.remove()
}

/** Lets a screen reader say a text when it has finished its present sentence. */
export function say(text: string): void {
  const live = document.getElementById('live')
  if (live) live.textContent = text
}

/** The headers that name the session: the frame sends the session's handle, because it has no cookies. */
export function headers(): Record<string, string> {
  return session.handle ? { authorization: `Session ${session.handle}` } : {}
}

function submit(form: HTMLFormElement, submitter: HTMLElement | null): void {
  const fields = new FormData(form, submitter)
  const body = new URLSearchParams()
  for (const [name, value] of fields) if (typeof value === 'string') body.append(name, value)
  const view = document.getElementById('main')?.dataset['view'] ?? ''
  if (!underWay && !body.has('language')) session.listener?.submitted(view)
  void visit({ url: form.action, method: 'POST', body })
}

/**
 * Sends a request for a view. `visit` treats an answer that is no page, such as a proxy's 502, like a lost
 * connection.
 */
function ask({ url, method, body }: Request): Promise<Response> {
  return fetch(url, {
    method,
    headers: { ...headers(), accept: 'text/html' },
    ...(body ? { body } : {}),
    credentials: hosted ? 'same-origin' : 'omit',
    cache: 'no-store',
    signal: AbortSignal.timeout(30_000),
  })
}

function setBusy(busy: boolean): void {
  if (busy === underWay) return
  underWay = busy
  document.getElementById('main')?.setAttribute('aria-busy', `${busy}`)
  say(busy ? (template()?.dataset['sending'] ?? '') : '')
}

/** Says that the connection was lost: the page keeps all typed text, and a button runs `retry`. */
export function offerRetry(retry: () => unknown): void {
  session.listener?.offline()
  const panel = template()?.content.getElementById('offline')?.cloneNode(true)
  if (!(panel instanceof HTMLElement)) return
  document.querySelector('#main #offline')?.remove()
  panel.querySelector('button')?.addEventListener('click', () => {
    panel.remove()
    retry()
  })
  document.getElementById('main')?.prepend(panel)
  panel.focus()
}

/** The texts that are needed while there is no network. */
export function template(): HTMLTemplateElement | null {
  return document.querySelector<HTMLTemplateElement>('#texts')
}

function focusOn(id: string): void {
  const target = document.getElementById(id)
  if (target?.id === 'main') {
    focusFirst()
    return
  }
  target?.closest('.field')?.scrollIntoView()
  target?.focus()
}
