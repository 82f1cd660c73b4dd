import type { Instant } from '../calendar/calendar.ts'
import { bytes, documents, integers, texts, timestamps, uuids, type Values } from './binary-array.ts'
import { type Column, type ColumnType, timestamp } from './sql.ts'

/** Columns for `rowsOf`, from the values of their rows. Null and undefined both become null. */
export const columnOf = {
  uuid: (values: Values<string>) => made('uuid', values, uuids),
  text: (values: Values<string>) => made('text', values, texts),
  integer: (values: Values<number>) => made('integer', values, integers),
  instant: (values: Values<Instant>) => made('timestamptz', values, timestamps, timestamp),
  bytes: (values: Values<Buffer>) => made('bytea', values, bytes),
  /** JSON documents, each given as its text. */
  document: (values: Values<string>) => made('jsonb', values, documents),
}

function made<T>(
  type: ColumnType,
  values: Values<T>,
  arrayOf: (values: Values<T>) => Buffer,
  single: (value: T | null | undefined) => unknown = orNull,
): Column {
  return {
    type,
    count: values.length,
    isAlike: areAlike(values),
    single: () => single(values[0]),
    all: () => arrayOf(values),
  }
}

function orNull<T>(value: T | null | undefined): T | null {
  return value ?? null
}

function areAlike(values: readonly unknown[]): boolean {
  const [first] = values
  // A loop, which ends at the first difference: mostly all values are equal, or the second one differs already.
  for (const value of values) if (value !== first) return false
  return true
}
