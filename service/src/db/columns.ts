import type { Instant } from '../calendar/calendar.ts'
import { bytes, documents, integers, texts, timestamps, uuids } from './binary-array.ts'
import { type Column, type ColumnType, timestamp } from './sql.ts'

/** Columns for `rowsOf`, from the values of their rows. Null and undefined both become null. */
export const columnOf = {
  uuid: (values: readonly (string | null)[]) => made('uuid', values, uuids, asItIs),
  text: (values: readonly (string | null)[]) => made('text', values, texts, asItIs),
  integer: (values: readonly (number | null)[]) => made('integer', values, integers, asItIs),
  instant: (values: readonly (Instant | null | undefined)[]) =>
    made('timestamptz', values, timestamps, timestamp),
  bytes: (values: readonly (Buffer | null | undefined)[]) => made('bytea', values, bytes, orNull),
  /** JSON documents, each given as its text. */
  document: (values: readonly (string | null)[]) => made('jsonb', values, documents, asItIs),
}

function made<T>(
  type: ColumnType,
  values: readonly T[],
  arrayOf: (values: readonly T[]) => Buffer,
  single: (value: T) => unknown,
): Column {
  return {
    type,
    count: values.length,
    isAlike: areAlike(values),
    single: () => single(values[0] as T),
    all: () => arrayOf(values),
  }
}

function asItIs<T>(value: T): T {
  return value
}

function orNull(value: Buffer | null | undefined): Buffer | null {
  return value ?? null
}

function areAlike(values: readonly unknown[]): boolean {
  const [first] = values
  // A loop, which ends at the first difference: mostly all values are equal, or the second one differs already.
  for (const value of values) if (value !== first) return false
  return true
}
