/** The last value that was read, and whether it was read just now. */
type LastRead<T> = { readonly value: T; readonly isFresh: boolean }

/** Less than Prometheus waits for an answer, so that metrics which need no database are always reported. */
const PATIENCE_MS = 3000

/**
 * Reads a value again and again for the metrics. While the database does not answer within three seconds, the last
 * value is returned. While a read is under way no other starts, so that scrapes never pile up in a pool.
 */
export function openLastRead<T>(read: () => Promise<T>, before: T): () => Promise<LastRead<T>> {
  let value = before
  let reading: Promise<boolean> | undefined
  const begin = () =>
    read().then(
      found => {
        value = found
        return true
      },
      () => false,
    )
  return async () => {
    reading ??= begin().finally(() => {
      reading = undefined
    })
    let timer: NodeJS.Timeout | undefined
    const tooLate = new Promise<boolean>(resolve => {
      timer = setTimeout(() => resolve(false), PATIENCE_MS)
    })
    const isFresh = await Promise.race([reading, tooLate])
    clearTimeout(timer)
    return { value, isFresh }
  }
}
