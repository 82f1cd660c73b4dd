import { headers, template, visit } from './navigate.ts'
import { keepInSight } from './sight.ts'

let main: HTMLElement | null = null
let endsAt = Number.POSITIVE_INFINITY

/**
 * Warns two minutes before the session ends; closing the warning extends it. When it ends, the personal data is
 * removed from the page.
 */
export function watchTime(): void {
  setInterval(check, 1_000)
}

function check(): void {
  const now = Date.now()
  const shown = document.getElementById('main')
  if (shown !== main) {
    main = shown
    restart(now)
  }
  const dialog = document.querySelector<HTMLDialogElement>('dialog#timeout')
  const root = main?.dataset['root'] ?? ''
  if (now >= endsAt) {
    endsAt = Number.POSITIVE_INFINITY
    dialog?.remove()
    void visit({ url: root, method: 'GET', passive: true })
  } else if (dialog) {
    countDown(dialog, Math.ceil((endsAt - now) / 1_000))
  } else if (now >= endsAt - 120_000) {
    warn(() => {
      restart(Date.now())
      void fetch(`${root}/stay`, { method: 'POST', headers: headers() }).catch(() => undefined)
    })
  }
}

/** Shows every second, but tells a screen reader only twice, because a voice that counts leaves no time to act. */
function countDown(dialog: HTMLElement, seconds: number): void {
  const left = dialog.querySelector<HTMLElement>('[data-left]')
  const status = dialog.querySelector<HTMLElement>('[role=status]')
  if (left) left.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
  const { minute = '', soon = '' } = status?.dataset ?? {}
  const said = seconds <= 15 ? soon : seconds <= 60 ? minute : ''
  if (status && status.textContent !== said) status.textContent = said
}

function restart(now: number): void {
  const seconds = Number(main?.dataset['idle'] ?? Number.NaN)
  endsAt = seconds ? now + seconds * 1_000 : Number.POSITIVE_INFINITY
}

/** Shows the warning; closing it in any way calls `stay`. */
function warn(stay: () => void): void {
  const dialog = template()?.content.getElementById('timeout')?.cloneNode(true)
  if (!(dialog instanceof HTMLDialogElement)) return
  const back = document.activeElement
  document.getElementById('page')?.append(dialog)
  dialog.querySelector('button')?.addEventListener('click', () => dialog.close())
  dialog.addEventListener('close', () => {
    dialog.remove()
    if (back instanceof HTMLElement) back.focus()
    stay()
  })
  dialog.showModal()
  // Browsers ignore `autofocus` in a frame of another site. A host's page that has the focus keeps it.
  if (document.hasFocus()) dialog.querySelector('button')?.focus()
  keepInSight(dialog)
}
