import { type Column, type Columns, column, insertedFrom, listOf, namesOf, settingsOf } from './columns.ts'
import { type Fragment, fragment, fragmentOf, type Query, sql } from './sql.ts'

/** The column of a property. */
type Field<Value> = {
  readonly name: string
  readonly kind: keyof typeof column
  /** What is stored where the group of the property is absent; without it, null. */
  readonly absent?: Value | undefined
  /** The values that are read, if not all are. */
  readonly only?: readonly unknown[] | undefined
}

/** Properties of an object that is there as a whole or not at all; where it is not, the first column is null. */
type Group<Whole> = {
  readonly fields: { readonly [Key in keyof NonNullable<Whole>]-?: Field<NonNullable<Whole>[Key]> }
}

/** The column or columns of each property, in the order of the table. */
type Mapping<Item> = { readonly [Key in keyof Item]-?: Field<Item[Key]> | Group<Item[Key]> }

/** Names the column of a property. */
export const stored = {
  uuid: <Value extends string | undefined>(name: string): Field<Value> => ({ name, kind: 'uuid' }),
  /** With `only`, any other value is read as `undefined`. */
  text: <Value extends string | undefined>(
    name: string,
    options: { only?: readonly Value[] } = {},
  ): Field<Value> => ({ name, kind: 'text', ...options }),
  integer: <Value extends number | undefined>(name: string): Field<Value> => ({ name, kind: 'integer' }),
  boolean: (name: string, options: { absent?: boolean } = {}): Field<boolean> => ({
    name,
    kind: 'boolean',
    ...options,
  }),
  instant: <Value extends number | undefined>(name: string): Field<Value> => ({ name, kind: 'instant' }),
  bytes: <Value extends Buffer | undefined>(name: string): Field<Value> => ({ name, kind: 'bytes' }),
  json: <Value extends object | undefined>(name: string): Field<Value> => ({ name, kind: 'json' }),
}

/** The columns of an object that is there as a whole or not at all. */
export function together<Whole>(fields: Group<Whole>['fields']): Group<Whole> {
  return { fields }
}

/** How objects of one kind are written to their table and read from it. */
export type Table<Item> = {
  /** What is written. */
  readonly columns: Columns<Item>
  /** The columns for the list of a `select`, of the table that the alias names. */
  readonly select: (alias: string) => Fragment
  /**
   * The columns as a JSON array, with instants in milliseconds. With a name on every value, the names were most of the cost
   * of loading a user.
   */
  readonly array: (alias: string) => Fragment
  /** The object of a selected row. */
  readonly ofRow: (row: Readonly<Record<string, unknown>>) => Item
  /** The object of a JSON array. */
  readonly ofArray: (array: readonly unknown[]) => Item
}

/** A column of a property, with its position in an array. */
type Entry = { readonly property: string; readonly field: Field<unknown>; readonly index: number }

/** A property with its column, or with the columns of its group. */
type Property = { readonly property: string; readonly entries: readonly Entry[]; readonly isGroup: boolean }

/** The table of a kind of objects, from one list of their columns. */
export function tableOf<Item extends object>(mapping: Mapping<Item>): Table<Item> {
  const properties = propertiesOf(Object.entries(mapping))
  const entries = properties.flatMap(property => property.entries)
  return {
    columns: Object.fromEntries(properties.flatMap(columnsOf<Item>)),
    select: alias => fragmentOf([entries.map(({ field }) => `${alias}.${field.name}`).join(', ')]),
    array: alias =>
      fragmentOf([`json_build_array(${entries.map(entry => inJson(entry, alias)).join(', ')})`]),
    ofRow: compiled(objectFrom(properties, ({ field }) => field.name)),
    ofArray: compiled(objectFrom(properties, ({ index }) => index)),
  }
}

function propertiesOf(
  properties: readonly (readonly [string, Field<unknown> | Group<Record<string, unknown>>])[],
): Property[] {
  let index = 0
  return properties.map(([property, at]) => {
    const fields = 'name' in at ? [[property, at] as const] : Object.entries(at.fields)
    const entries = fields.map(([inner, field]) => ({ property: inner, field, index: index++ }))
    return { property, entries, isGroup: !('name' in at) }
  })
}

function columnsOf<Item>({ property, entries, isGroup }: Property): (readonly [string, Column<Item>])[] {
  return entries.map(({ property: inner, field }) => {
    const make = column[field.kind] as (get: (item: Item) => unknown) => Column<Item>
    const whole = `source.${property}`
    const get = isGroup ? `${whole} ? ${whole}.${inner} : ${JSON.stringify(field.absent)}` : whole
    return [field.name, make(compiled(get))]
  })
}

/** The text of an object whose properties are read from `source`. */
function objectFrom(properties: readonly Property[], keyOf: (entry: Entry) => string | number): string {
  const value = (entry: Entry) => {
    const read = `source[${JSON.stringify(keyOf(entry))}]`
    const { only } = entry.field
    return only
      ? `(${JSON.stringify(only)}.includes(${read}) ? ${read} : undefined)`
      : `(${read} ?? undefined)`
  }
  const members = (entries: readonly Entry[]) =>
    `{ ${entries.map(entry => `${entry.property}: ${value(entry)}`).join(', ')} }`
  const texts = properties.map(({ property, entries, isGroup }) => {
    const [first] = entries
    if (!isGroup || !first) return `${property}: ${entries.map(value).join()}`
    return `${property}: ${value(first)} === undefined ? undefined : ${members(entries)}`
  })
  return `({ ${texts.join(', ')} })`
}

/**
 * A function of `source`, compiled from names in our own code: setting each property by its name would take 40 times as
 * long (10 µs for a user with four benefits).
 */
function compiled<Source, Result>(expression: string): (source: Source) => Result {
  return new Function('source', `return ${expression}`) as (source: Source) => Result
}

function inJson({ field }: Entry, alias: string): string {
  const name = `${alias}.${field.name}`
  return field.kind === 'instant' ? `(extract(epoch from ${name}) * 1000)::bigint` : name
}

/** A table whose rows a batch adds, replaces and deletes. */
export type RowTable<Row, Key = Row> = {
  readonly name: string
  /** The key of a row as text: of two rows of one key a batch writes the later one. */
  readonly keyOf: (key: Key) => string
  /** The statements that write these rows. */
  readonly write: (rows: readonly Row[]) => Query[]
  /** The statement that deletes the rows of these keys. */
  readonly remove: (keys: readonly Key[]) => Query
  /** Begins a statement that deletes rows of the table. */
  readonly deleting: Fragment
}

/**
 * A table to which rows are added, with the columns of its key and all others. A row that is there already fails the transaction,
 * unless `mayBeThere` says that the new one takes its place; insert-only costs 2 to 3 µs less. `casts` names the types of
 * columns that are sent as text.
 */
export function rowsInto<Row extends Key, Key>(
  name: string,
  key: Columns<Key>,
  others: Columns<Row>,
  options: {
    readonly mayBeThere?: (row: Row) => boolean
    readonly casts?: Readonly<Record<string, string>>
  } = {},
): RowTable<Row, Key> {
  const { mayBeThere = () => false, casts = {} } = options
  const columns: Columns<Row> = { ...key, ...others }
  const names = Object.keys(key)
  const keys = Object.values(key)
  const cast = (column: string) => (casts[column] ? `${column}::${casts[column]}` : column)
  const selected = fragmentOf([Object.keys(columns).map(cast).join(', ')])
  const into = fragmentOf([`insert into ${name}`])
  const deleting = fragmentOf([`delete from ${name}`])
  const instead = fragmentOf([`on conflict (${names.join(', ')}) do update set `])
  const isSame = fragmentOf([names.map(column => `t.${column} = row.${column}`).join(' and ')])
  const insert = (rows: readonly Row[]) =>
    fragment`${into} (${namesOf(columns)}) ${insertedFrom(columns, rows, selected)}`
  return {
    name,
    keyOf: row => keys.map(({ get }) => textOf(get(row))).join(' '),
    write(rows) {
      const replacing = rows.filter(mayBeThere)
      const fresh = replacing.length > 0 ? rows.filter(row => !mayBeThere(row)) : rows
      return [
        ...(fresh.length > 0 ? [sql`${insert(fresh)}`] : []),
        ...(replacing.length > 0
          ? [sql`${insert(replacing)} ${instead} ${settingsOf(others, 'excluded')}`]
          : []),
      ]
    },
    remove: rows => sql`${deleting} t using ${listOf(key, rows)} where ${isSame}`,
    deleting,
  }
}

function textOf(value: unknown): string {
  return Buffer.isBuffer(value) ? value.toString('latin1') : String(value)
}
