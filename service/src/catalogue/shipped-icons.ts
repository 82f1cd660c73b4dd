import { readdirSync, readFileSync } from 'node:fs'

const folder = new URL('../../assets/icons/', import.meta.url)

let icons: ReadonlyMap<string, Buffer> | undefined

/** The icons that ship with us by their names, such as `accident.svg`, each served at `/icons/NAME`. */
export function shippedIcons(): ReadonlyMap<string, Buffer> {
  icons ??= new Map(
    readdirSync(folder)
      .filter(name => name.endsWith('.svg'))
      .map(name => [name, readFileSync(new URL(name, folder))]),
  )
  return icons
}
