import { queryTextOf } from '../../http/validation.ts'

/** Where a tile or an address leads (contract §6, §11): a route's name, never a URL, and a benefit. */
export type DeepLink = {
  /** `''` when the address names none. */
  readonly productname: string
  readonly redirectto: 'swap' | 'manage' | 'enrol' | 'details' | 'howtouse'
}

const MEMBERS = ['productname', 'producttype', 'redirectto']
const routes = new Set(['swap', 'manage', 'enrol', 'details', 'howtouse'])

/** Whether this is the deeplinkdata of a benefit: all three members, once each, with a known route. Others are ignored. */
export function isDeepLink(text: string): boolean {
  const sent = [...new URLSearchParams(text).keys()]
  if (MEMBERS.some(name => sent.indexOf(name) !== sent.lastIndexOf(name))) return false
  const { productname, producttype, redirectto } = membersOf(text)
  return isProduct(productname) && /^[a-z]{1,32}$/.test(producttype) && routes.has(redirectto)
}

/** Reads deeplinkdata. What it does not know is ignored; `undefined` when nothing is left. */
export function parseDeepLink(text: string): DeepLink | undefined {
  const { productname, redirectto } = membersOf(text)
  const product = isProduct(productname) ? productname : ''
  const route = routes.has(redirectto) ? (redirectto as DeepLink['redirectto']) : undefined
  return product === '' && !route ? undefined : { productname: product, redirectto: route ?? 'details' }
}

/** The address of a link, taken apart: its token ends at the first `&`, and deeplinkdata may follow it or the `?`. */
export function readLinkAddress(
  linktoken: string,
  url: string,
): { token: string; deepLink: DeepLink | undefined } {
  const [token = '', ...appended] = linktoken.split('&')
  return { token, deepLink: parseDeepLink([...appended, queryTextOf(url)].join('&')) }
}

/** The deep link as text, of nothing but names that were checked. */
export function writeDeepLink({ productname, redirectto }: DeepLink): string {
  return new URLSearchParams({ ...(productname && { productname }), redirectto }).toString()
}

function isProduct(name: string): boolean {
  return /^[a-z0-9]{1,64}$/.test(name)
}

function membersOf(text: string) {
  const {
    productname = '',
    producttype = '',
    redirectto = '',
  } = Object.fromEntries(new URLSearchParams(text))
  return { productname, producttype, redirectto }
}
