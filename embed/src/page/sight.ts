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
        if (target === body && seen.height > 0) place(dialog, seen)
        if (target === body || intersectionRatio === 1) continue
        // Only a new observation tells which part of the body is seen now.
        observer.unobserve(body)
        observer.observe(body)
      }
    },
    { threshold: [0, 0.5, 1] },
  )
  observer.observe(dialog)
}

function place(dialog: HTMLElement, seen: DOMRectReadOnly): void {
  const { offsetHeight, style } = dialog
  const top = Math.min(seen.top + Math.max(0, seen.height - offsetHeight) / 2, innerHeight - offsetHeight)
  style.marginBlock = '0'
  style.inset = `${Math.max(0, top)}px 0 auto`
}
