/** The element that holds the frame: a dialog, or a section of the host's page. */
export type Shell = {
  readonly frame: HTMLIFrameElement
  /** Shows a message in place of the frame; an empty one shows the frame again. */
  say(message: string): void
  setHeight(height: number): void
  /** Removes the shell; a dialog gives the focus back to the element that had it before. */
  remove(): void
}

/** What a shell needs from its embed. */
export type Told = {
  readonly locale: string | undefined
  readonly loaded: () => void
  readonly exit: () => void
}

/**
 * Shows the frame in a modal dialog in a shadow tree of its own, with a close button that works whatever the frame
 * does.
 */
export function showDialog(parent: Element, address: string, told: Told): Shell {
  const opener = document.activeElement
  const dialog = document.createElement('dialog')
  const button = document.createElement('button')
  const spanish = isSpanish(told.locale)
  button.type = 'button'
  button.textContent = '\u00d7'
  button.setAttribute('aria-label', spanish ? 'Cerrar' : 'Close')
  dialog.setAttribute('aria-label', titleOf(told.locale))
  button.onclick = told.exit
  dialog.oncancel = event => {
    event.preventDefault()
    told.exit()
  }
  dialog.append(button)
  const shell = show(parent, dialog, address, told)
  dialog.showModal()
  return {
    ...shell,
    setHeight() {},
    remove() {
      dialog.close()
      shell.remove()
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
    },
  }
}

/** Shows the frame inside an element of the host, as high as its content. */
export function showInline(parent: Element, address: string, told: Told): Shell {
  const shell = show(parent, document.createElement('section'), address, told)
  return {
    ...shell,
    setHeight(height) {
      shell.frame.style.height = `${Math.ceil(height)}px`
    },
  }
}

/** Styles are set through the object model only, which even the strictest content security policy of a host allows. */
function show(parent: Element, box: HTMLElement, address: string, told: Told): Shell {
  const host = document.createElement('div')
  const root = host.attachShadow({ mode: 'open' })
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(css)
  root.adoptedStyleSheets = [sheet]
  const frame = document.createElement('iframe')
  frame.title = titleOf(told.locale)
  // Downloads, because the page offers a copy of what was agreed as a file.
  frame.setAttribute('sandbox', 'allow-scripts allow-same-origin allow-forms allow-popups allow-downloads')
  frame.allow = ''
  frame.referrerPolicy = 'no-referrer'
  frame.onload = told.loaded
  frame.src = address
  box.append(frame)
  root.append(box)
  parent.append(host)
  return {
    frame,
    say(message) {
      frame.hidden = message !== ''
      root.querySelector('p')?.remove()
      if (!message) return
      const text = document.createElement('p')
      text.setAttribute('role', 'alert')
      text.textContent = message
      box.append(text)
    },
    setHeight() {},
    remove() {
      host.remove()
    },
  }
}

function titleOf(locale: string | undefined): string {
  return isSpanish(locale) ? 'Sus beneficios' : 'Your benefits'
}

function isSpanish(locale: string | undefined): boolean {
  return (locale ?? document.documentElement.lang).startsWith('es')
}

const css = `:host{color-scheme:light dark}
iframe{display:block;width:100%;min-height:24rem;border:0}
[hidden]{display:none}
p{margin:0;padding:3rem 1.5rem;font:1.125rem/1.5 system-ui,sans-serif;text-align:center}
dialog{width:100%;max-width:46rem;height:min(56rem,100dvh - 3rem);max-height:none;padding:0;border:0;border-radius:16px;overflow:hidden;background:Canvas;color:CanvasText;box-shadow:0 24px 64px -16px rgb(0 0 0/40%)}
dialog iframe{height:100%}
dialog::backdrop{background:rgb(0 0 0/55%)}
button{position:absolute;top:8px;right:8px;width:44px;height:44px;padding:0;border:0;border-radius:50%;background:Canvas;color:CanvasText;font:1.75rem/1 system-ui,sans-serif;cursor:pointer}
button:focus-visible{outline:3px solid;outline-offset:-4px}
@media(max-width:46rem){dialog{max-width:none;height:100dvh;margin:0;border-radius:0}}`
