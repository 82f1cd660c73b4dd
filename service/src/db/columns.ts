import type { Instant } from '../calendar/calendar.ts'
import {
  booleans,
  bytes,
  documents,
  integers,
  texts,
  timestamps,
  uuids,
  type Values,
} from './binary-array.ts'
import { type Fragment, fragment, fragmentOf, timestamp } from './sql.ts'

/** A column, and what an item has in it; null and undefined are both stored as null. */
export type Column<Item> = { readonly type: ColumnType; readonly get: (item: Item) => unknown }

/**
 * The columns of rows that are made from items, by name. It is declared once, at the top of a module: the texts of its
 * statements are kept with it.
 */
export type Columns<Item> = Readonly<Record<string, Column<Item>>>

/** Makes columns of each type. */
export const column = {
  uuid: <Item>(get: (item: Item) => string | undefined): Column<Item> => ({ type: 'uuid', get }),
  text: <Item>(get: (item: Item) => string | null | undefined): Column<Item> => ({
    type: 'text',
    get,
  }),
  integer: <Item>(get: (item: Item) => number | undefined): Column<Item> => ({
    type: 'integer',
    get,
  }),
  boolean: <Item>(get: (item: Item) => boolean): Column<Item> => ({ type: 'boolean', get }),
  instant: <Item>(get: (item: Item) => Instant | undefined): Column<Item> => ({
    type: 'timestamptz',
    get,
  }),
  bytes: <Item>(get: (item: Item) => Buffer | undefined): Column<Item> => ({ type: 'bytea', get }),
  /** A JSON document. */
  json: <Item>(get: (item: Item) => object | undefined): Column<Item> => ({
    type: 'jsonb',
    get: item => {
      const value = get(item)
      return value && JSON.stringify(value)
    },
  }),
}

/** The same columns for an item that contains the item that they are of. */
export function within<Outer, Item>(
  columns: Columns<Item>,
  itemOf: (outer: Outer) => Item,
): Record<string, Column<Outer>> {
  return Object.fromEntries(
    Object.entries(columns).map(([name, { type, get }]) => [
      name,
      { type, get: outer => get(itemOf(outer)) },
    ]),
  )
}

/** The names of columns, separated by commas. */
export function namesOf(columns: Columns<never>): Fragment {
  return formsOf(columns).names
}

/** What sets each column to the value of the same name in `row`, or in the row that an insert could not add. */
export function settingsOf(columns: Columns<never>, from: 'row' | 'excluded' = 'row'): Fragment {
  return formsOf(columns)[from]
}

/**
 * The fragment that gives rows, called `row`, to the `from` of a statement: an `unnest` of an array for each column. What all
 * rows have in common is bound once as a plain value, because PostgreSQL makes a store for each array, and reads each of
 * its elements.
 */
export function rowsOf<Item>(columns: Columns<Item>, items: readonly Item[]): Fragment {
  const forms = formsOf(columns)
  const values = forms.columns.map(([, { get }]) => items.map(get as (item: Item) => unknown))
  const alike = values.map(areAlike)
  const hasOwn = alike.includes(false)
  // Several rows need at least one array, which says how many they are.
  const isOnce = alike.map((isAlike, index) => isAlike && (items.length === 1 || hasOwn || index > 0))
  const form = formOf(forms, isOnce)
  return fragmentOf(form.literals, [
    ...values.flatMap((all, index) => (form.isOnce[index] ? [valueFor(typeOf(forms, index), all[0])] : [])),
    ...values.flatMap((all, index) => (form.isOnce[index] ? [] : [arrayFor(typeOf(forms, index), all)])),
  ])
}

/**
 * What follows the columns of an `insert`: all columns of the rows, or what `selected` makes of them. One row goes by `values`, because
 * Citus plans a `select` anew each time: 480 µs of PostgreSQL instead of 1,170; on one PostgreSQL both take 60.
 */
export function insertedFrom<Item>(
  columns: Columns<Item>,
  items: readonly Item[],
  selected: Fragment = all,
): Fragment {
  const [only, second] = items
  if (only === undefined || second !== undefined)
    return fragment`select ${selected} from ${rowsOf(columns, items)}`
  const forms = formsOf(columns)
  return fragmentOf(
    forms.single,
    forms.columns.map(([, { type, get }]) => valueFor(type, (get as (item: Item) => unknown)(only))),
  )
}

const all = fragmentOf(['*'])

/**
 * The same as `rowsOf` for a statement that reads or changes rows: always arrays, so that PostgreSQL keeps its plan. It plans for ten
 * rows; if it saw that a list has fewer, it would make a new plan each time (0.2 to 0.7 ms, more than all else about a
 * small batch). With `numbered` the rows have a column `place`, from 1 on.
 */
export function listOf<Item>(
  columns: Columns<Item>,
  items: readonly Item[],
  order: 'inOrder' | 'numbered' = 'inOrder',
): Fragment {
  const forms = formsOf(columns)
  const values = forms.columns.map(([, { type, get }]) =>
    arrayFor(type, items.map(get as (item: Item) => unknown)),
  )
  return fragmentOf(forms[order], values)
}

/** The types of columns. */
type ColumnType = 'uuid' | 'text' | 'integer' | 'boolean' | 'timestamptz' | 'bytea' | 'jsonb'

const ARRAYS: Readonly<Record<ColumnType, (values: Values<never>) => Buffer>> = {
  uuid: uuids,
  text: texts,
  integer: integers,
  boolean: booleans,
  timestamptz: timestamps,
  bytea: bytes,
  jsonb: documents,
}

function arrayFor(type: ColumnType, values: readonly unknown[]): Buffer {
  return ARRAYS[type](values as Values<never>)
}

function valueFor(type: ColumnType, value: unknown): unknown {
  return type === 'timestamptz' ? timestamp(value as Instant | undefined) : (value ?? null)
}

function areAlike(values: readonly unknown[]): boolean {
  const [first] = values
  // A loop, which ends at the first difference: mostly all values are equal, or the second one differs already.
  for (const value of values) if (value !== first) return false
  return true
}

type Named = readonly (readonly [name: string, column: Column<never>])[]

/** A text of rows, and which of their columns are bound once in it. */
type RowForm = { readonly isOnce: readonly boolean[]; readonly literals: readonly string[] }

/** The texts that are made of the names of columns. */
type Forms = {
  readonly columns: Named
  readonly names: Fragment
  readonly row: Fragment
  readonly excluded: Fragment
  /** One row to insert; PostgreSQL takes the types from the columns. */
  readonly single: readonly string[]
  readonly inOrder: readonly string[]
  readonly numbered: readonly string[]
  /** The forms in which rows were bound before. */
  readonly rows: Map<string, RowForm>
}

const known = new WeakMap<Columns<never>, Forms>()

function formsOf(columns: Columns<never>): Forms {
  const before = known.get(columns)
  if (before) return before
  const named = Object.entries(columns)
  const set = (from: string) => fragmentOf([named.map(([name]) => `${name} = ${from}.${name}`).join(', ')])
  const forms: Forms = {
    columns: named,
    names: fragmentOf([named.map(([name]) => name).join(', ')]),
    row: set('row'),
    excluded: set('excluded'),
    single: `values (${named.map(() => BOUND).join(', ')})`.split(BOUND),
    inOrder: listForm(unnested(named, 'row')),
    numbered: listForm(unnested(named, 'row', true)),
    rows: new Map(),
  }
  known.set(columns, forms)
  return forms
}

function typeOf({ columns }: Forms, index: number): ColumnType {
  return (columns[index] as Named[number])[1].type
}

/** Every connection keeps a plan for each form. Batches of like commands take two or three. */
const MOST_FORMS = 16

function formOf({ columns, rows }: Forms, isOnce: readonly boolean[]): RowForm {
  const known = rows.get(isOnce.join())
  if (known) return known
  // In arrays every batch can be bound.
  const used = rows.size >= MOST_FORMS ? isOnce.map(() => false) : isOnce
  const form = { isOnce: used, literals: literalsOf(columns, used) }
  if (rows.size < MOST_FORMS) rows.set(isOnce.join(), form)
  return form
}

function literalsOf(columns: Named, isOnce: readonly boolean[]): string[] {
  const own = columns.filter((_, index) => !isOnce[index])
  if (own.length === columns.length) return unnested(own, 'row').split(BOUND)
  const selected = columns.map(([name, { type }], index) =>
    isOnce[index] ? `${BOUND}::${type} as ${name}` : name,
  )
  const from = own.length === 0 ? '' : ` from ${unnested(own, 'own')}`
  return `(select ${selected.join(', ')}${from}) as row`.split(BOUND)
}

function unnested(columns: Named, alias: string, isNumbered = false): string {
  const arrays = columns.map(([, { type }]) => `${BOUND}::${type}[]`).join(', ')
  const names = [...columns.map(([name]) => name), ...(isNumbered ? ['place'] : [])].join(', ')
  return `unnest(${arrays})${isNumbered ? ' with ordinality' : ''} as ${alias} (${names})`
}

function listForm(list: string): string[] {
  return list.replace(/\$::(\w+)\[\]/, '(select $::$1[])').split(BOUND)
}

/** Stands for a bound value while the text of rows is put together; no name contains it. */
const BOUND = '$'
