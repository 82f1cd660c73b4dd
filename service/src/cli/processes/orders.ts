import type { News } from '../../assembly/options.ts'
import type { DatabaseAddress } from '../../db/database.ts'

/** What a parent gives a process that is to serve. */
export type Beginning = {
  /** Where the embedded database is; absent: the environment says where the database is. */
  readonly embedded?: Exclude<DatabaseAddress, { url: string }> | undefined
  /** Where the parent listens. */
  readonly address: string
  /** How many processes share the machine. */
  readonly processes: number
  /** Whether this process alone removes the keys of erased users from the files of the embedded database. */
  readonly scrubs: boolean
  /** Whether the disk of the embedded database is nearly full. */
  readonly isLow: boolean
}

/** What a parent tells a process that serves. */
export type Order =
  | ({ readonly order: 'begin' } & Beginning)
  | { readonly order: 'space'; readonly isLow: boolean }
  | { readonly order: 'news'; readonly news: News }
  | { readonly order: 'metrics'; readonly id: number }
  /** Serve the connection that comes with this order, and report that it is taken. */
  | { readonly order: 'connection'; readonly id: number }
  /** Be not ready, and serve as before. */
  | { readonly order: 'drain' }
  /** Another process has taken your place: serve the connections that you have, and end. */
  | { readonly order: 'leave' }
  | { readonly order: 'stop' }

/** What a process tells its parent. */
export type Report =
  | { readonly report: 'up' }
  | { readonly report: 'serving'; readonly baseUrl: string }
  | { readonly report: 'taken'; readonly id: number }
  | { readonly report: 'news'; readonly news: News }
  | { readonly report: 'metrics'; readonly id: number; readonly text: string }
