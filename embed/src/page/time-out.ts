import { headers, template, visit } from './navigate.ts'

let main: HTMLElement | null = null
let endsAt = Number.POSITIVE_INFINITY

/** Warns two minutes before the session ends; one key extends it. When it ends, nothing personal stays to be read. */
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
  } else if (now >= endsAt - 120_000 && !dialog) {
    warn(() => {
      restart(Date.now())
      void fetch(`${root}/stay`, { method: 'POST', headers: headers() }).catch(() => undefined)
    })
  }
}

function restart(now: number): void {
  const seconds = Number(main?.dataset['idle'] ?? Number.NaN)
  endsAt = seconds ? now + seconds * 1_000 : Number.POSITIVE_INFINITY
}

/** Any way of closing the warning is a sign of life. */
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
}
