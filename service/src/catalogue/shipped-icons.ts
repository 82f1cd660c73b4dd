import { readdirSync } from 'node:fs'

/** The folder of the icons that ship with the service, each served at `/icons/NAME`. */
export const iconFolder = new URL('../../assets/icons/', import.meta.url)

let names: ReadonlySet<string> | undefined

/** The names of the icons that ship with us, such as `accident.svg`. */
export function shippedIcons(): ReadonlySet<string> {
  names ??= new Set(readdirSync(iconFolder).filter(name => name.endsWith('.svg')))
  return names
}
