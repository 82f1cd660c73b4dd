import { headers, offerRetry } from './navigate.ts'

/**
 * Lets the frame save a copy of the agreements. The frame has no cookie that names the session, so the file is
 * fetched with the session's handle and handed to the browser as a download.
 */
export function watchCopies(): void {
  addEventListener('click', event => {
    const link = event.target instanceof Element ? event.target.closest('a') : null
    if (link?.dataset['copy'] === undefined) return
    event.preventDefault()
    void save(link.href, link.dataset['copy'])
  })
}

async function save(address: string, name: string): Promise<void> {
  try {
    const response = await fetch(address, {
      headers: headers(),
      credentials: 'omit',
      cache: 'no-store',
      signal: AbortSignal.timeout(30_000),
    })
    if (!response.ok) throw new TypeError('not the copy')
    const link = document.createElement('a')
    link.href = URL.createObjectURL(await response.blob())
    link.download = name
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
  } catch {
    offerRetry(() => save(address, name))
  }
}
