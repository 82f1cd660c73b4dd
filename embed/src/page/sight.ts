/**
 * Keeps a dialog in the part of the frame that the person sees. A frame inside its host's page is as high as its
 * content, so the middle of the frame, where a dialog opens, may be far outside the window.
 */
export function keepInSight(dialog: HTMLElement): void {
  const { body } = document
  const observer = new IntersectionObserver(
    entries => {
      if (!dialog.isConnected) observer.disconnect()
      for (const { target, intersectionRect: seen, intersectionRatio } of entries) {
        if (target === body) {
          // The person may have scrolled on meanwhile, so that the dialog is out of sight in its new place, too.
          if (seen.height > 0 && place(dialog, seen)) again(dialog)
        } else if (intersectionRatio < 1) again(body)
      }
    },
    { threshold: [0, 0.5, 1] },
  )
  // The observer calls back when what is seen of a target changes, and once for a new observation.
  const again = (target: HTMLElement) => {
    observer.unobserve(target)
    observer.observe(target)
  }
  observer.observe(dialog)
}

/** Moves the dialog to the middle of what is seen; false when it was there. */
function place(dialog: HTMLElement, seen: DOMRectReadOnly): boolean {
  const { offsetHeight, style } = dialog
  const before = style.inset
  const top = Math.min(seen.top + Math.max(0, seen.height - offsetHeight) / 2, innerHeight - offsetHeight)
  style.marginBlock = '0'
  style.inset = `${Math.max(0, top)}px 0 auto`
  return style.inset !== before
}
