/**
 * Waits for statements that travel together in one transaction. When one fails, those behind it fail as well, because
 * the transaction is void: the first in order is the one that tells why, and the one that this rejects with.
 */
export const together = async <const T extends readonly unknown[]>(
  statements: T,
): Promise<{ -readonly [Index in keyof T]: Awaited<T[Index]> }> => {
  const ends = await Promise.allSettled(statements)
  for (const end of ends) if (end.status === 'rejected') throw end.reason
  return ends.map(end => (end as PromiseFulfilledResult<unknown>).value) as never
}
