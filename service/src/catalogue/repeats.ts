/**
 * The values of a list that repeat an earlier one, with the index of the earlier one; missing values repeat nothing.
 */
export function repeatsIn<T>(
  list: readonly T[],
): { value: NonNullable<T>; index: number; earlier: number }[] {
  const first = new Map<T, number>()
  return list.flatMap((value, index) => {
    const earlier = first.get(value)
    if (earlier === undefined) first.set(value, index)
    return earlier === undefined || value === undefined || value === null ? [] : [{ value, index, earlier }]
  })
}
