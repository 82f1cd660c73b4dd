import { session } from './session.ts'

/** A request for a view. */
export interface Request {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly body?: URLSearchParams
  /** True when nobody asked: an ended session is then shown, not renewed. */
  readonly passive?: boolean
  /** True when it comes from the browser's own back and forward. */
  readonly moved?: boolean
}

const hosted = document.documentElement.dataset['shell'] !== 'frame'
let underWay = false

/** Takes over links and forms, so that a lost connection loses nothing and the focus follows the view. */
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

/** Asks for a view and shows it. A failure keeps the page as it is and offers to try again. One at a time. */
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

/** Puts a view's document in the place of this one and moves the focus to its heading, or to what is wrong. */
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

/** Tells the host and prepares what only works with a script. */
export function readSignals(): void {
  for (const button of document.querySelectorAll<HTMLElement>('[data-print]')) button.hidden = false
  const main = document.getElementById('main')
  if (main) session.listener?.shown(main)
}

function focusFirst(): void {
  const first = document.getElementById('problem') ?? document.querySelector<HTMLElement>('h1')
  first?.focus()
}

/** Makes the page's styles exactly these; what is loaded already stays. */
export function setStyles(addresses: readonly string[]): void {
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

/** Says something politely to a screen reader. */
export function say(text: string): void {
  const live = document.getElementById('live')
  if (live) live.textContent = text
}

/** The headers of this session: in the frame the handle, since there are no cookies. */
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

/** A service behind a proxy may answer a broken gateway without a page: that is a lost connection, too. */
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

/** The connection was lost: everything typed stands where it was, one button sends it again. */
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

/** The words that must be there when the network is not. */
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
