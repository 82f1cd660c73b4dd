import type pg from 'pg'
import type { NodeAddress } from './cells.ts'
import type { DatabaseAddress } from './types.ts'

/**
 * The URLs of the servers that a URL names, `postgres://user@one:5432,two:5433/db` as libpq reads it. The first is the
 * coordinator of a cluster; the others say where the cells are while it does not answer.
 */
export function urlsOf(url: string): readonly [string, ...string[]] {
  const { start, host, rest } = partsOf(url)
  const [first = '', ...others] = host.split(',')
  const urlOf = (one: string) => `${start}${one}${rest}`
  return others.length === 0 ? [url] : [urlOf(first), ...others.map(urlOf)]
}

/** The addresses of these servers, each for itself. */
export function addressesOf(address: DatabaseAddress): readonly [DatabaseAddress, ...DatabaseAddress[]] {
  if (!('url' in address)) return [address]
  const [first, ...others] = urlsOf(address.url)
  return [{ url: first }, ...others.map(url => ({ url }))]
}

/** How the driver takes an address. */
export function driverAddress(address: DatabaseAddress): pg.PoolConfig {
  return 'url' in address ? { connectionString: address.url } : address
}

/** The same user and database at another node. */
export function addressAt(address: DatabaseAddress, { host, port }: NodeAddress): DatabaseAddress {
  if (!('url' in address)) return { ...address, host, port }
  const url = new URL(address.url)
  url.hostname = host
  url.port = `${port}`
  return { url: url.href }
}

/** `HOST:PORT`, without user and password. */
export function serverOf(address: DatabaseAddress): string {
  if (!('url' in address)) return `${address.host}:${address.port}`
  const { host } = partsOf(address.url)
  return /:\d+$/.test(host) ? host : `${host}:5432`
}

function partsOf(url: string): { readonly start: string; readonly host: string; readonly rest: string } {
  const [, start = '', host = '', rest = ''] = /^([a-z]+:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/s.exec(url) ?? []
  return { start, host, rest }
}
