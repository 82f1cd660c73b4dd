import type { Socket } from 'node:net'
import type { RequestLimits } from '@benefit-enrolment/contract'
import type { BulksElsewhere } from '../bulk/open-bulks.ts'
import type { Language } from '../catalogue/model.ts'
import type { Database } from '../db/database.ts'
import type { Rewritten } from '../db/rewrite-table.ts'
import type { FeedPlaces } from '../feeds/run.ts'
import type { TurnLimits } from '../http/shedding/turns.ts'
import type { Installation } from '../installation.ts'
import type { Log } from '../log.ts'
import type { ErasureList } from '../membership/erasure-list/list.ts'
import type { AllowedRequests } from '../partners/rate-limit.ts'
import type { Keyring } from '../vault/keyring.ts'
import type { DispatcherOptions } from '../webhooks/delivery/dispatcher.ts'
import type { AddressRules } from '../webhooks/egress/address.ts'
import type { EgressProxy } from '../webhooks/egress/connect.ts'

/** What happened in one of several processes that share an address, of which the others must know. */
export type News =
  /** Events of these partners were committed. */
  | { readonly events: readonly string[] }
  /** An authentication from this address failed, perhaps of a known credential. */
  | { readonly failed: { readonly address: string; readonly credential: string | undefined } }
  /** Requests of a partner with a limit were allowed. */
  | { readonly allowed: AllowedRequests }
  /** So many bulks of a partner are now open in a process. */
  | { readonly bulks: BulksElsewhere }
  /** This process has ended, and with it its bulks. */
  | { readonly ended: number }

/** What a service is started with. */
export type ServiceOptions = {
  readonly database: Database
  /** Connections for the delivery of webhooks only, so that deliveries and requests cannot starve each other. */
  readonly deliveryDatabase: Database
  readonly keyring: Keyring
  readonly installation: Installation
  readonly host: string
  readonly port: number
  /** Connections that another process accepts at this address and hands over; absent: the service listens itself. */
  readonly handed?: {
    readonly address: string
    readonly connections: (take: (socket: Socket) => void) => void
  }
  /** The address under which partners and people reach the service; absent: the address it listens on. */
  readonly baseUrl?: string | undefined
  readonly trustProxy?: readonly string[]
  readonly log: Log
  /** Whether each request is a line of the log; absent: it is. */
  readonly logsRequests?: boolean
  /** Real time. */
  readonly real: () => number
  /** Which addresses webhooks may reach. */
  readonly webhookRules: AddressRules
  /** The proxy through which webhooks leave; absent: they leave directly. */
  readonly webhookProxy?: EgressProxy | undefined
  readonly dispatcher?: DispatcherOptions
  /** How many requests are under way at most, and how long others wait; absent: the defaults. */
  readonly limits?: TurnLimits
  /** The limits for size and form of a request; absent: the defaults. */
  readonly requestLimits?: RequestLimits
  /** Where `security.txt` says that vulnerabilities are to be reported; absent: a page of the docs. */
  readonly securityContact?: string | undefined
  /** Drafts of the page's languages that people may choose. */
  readonly drafts?: readonly Language[] | undefined
  /** How many processes share the machine's memory; absent: this one has it alone. */
  readonly processes?: number
  /** Tells the other processes that share the address; absent: there are none. */
  readonly tellOthers?: (news: News) => void
  /** Rewrites a cell's table of wrapped data keys, which removes deleted keys from its files; absent where `enrolment maintain` does it. */
  readonly rewriteKeys?: (cell: string) => Promise<Rewritten>
  /** How long entries of the audit log are kept; absent: six years. */
  readonly auditKeepMs?: number
  /** The list of erasures outside the database; absent: there is none. */
  readonly erasures?: ErasureList | undefined
  /** Where the files of feeds go; absent, or without a folder: feeds run by command only. */
  readonly feeds?: FeedPlaces | undefined
  /** True while writes are refused because the disk is nearly full. */
  readonly lowOnSpace?: () => boolean
}
