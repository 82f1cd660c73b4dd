/** Where a tile leads (contract §6): a route's name, never a URL. */
export type DeepLink = {
  readonly productname: string
  readonly redirectto: 'swap' | 'manage' | 'enrol' | 'details'
}

const routes = new Set(['swap', 'manage', 'enrol', 'details'])
const members = new Set(['productname', 'producttype', 'redirectto'])

/** Reads deeplinkdata; `undefined` unless it consists of the three members with a known route. */
export function parseDeepLink(text: string): DeepLink | undefined {
  const entries = [...new URLSearchParams(text)]
  const values = Object.fromEntries(entries)
  if (entries.length !== members.size || !Object.keys(values).every(name => members.has(name)))
    return undefined
  const { productname = '', producttype = '', redirectto = '' } = values
  if (
    !/^[a-z0-9]{1,64}$/.test(productname) ||
    !/^[a-z]{1,32}$/.test(producttype) ||
    !routes.has(redirectto)
  ) {
    return undefined
  }
  return { productname, redirectto: redirectto as DeepLink['redirectto'] }
}
