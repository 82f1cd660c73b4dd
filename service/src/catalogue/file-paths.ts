import type { SourcePosition } from './problem.ts'

/**
 * A file that a catalogue names: its path below the catalogue's folder or the name of a shipped icon, where it is named,
 * and its purpose.
 */
export type FileMention = {
  readonly position: SourcePosition
  readonly path: string
  readonly use: 'icon' | 'document'
}

// Matches only paths below the catalogue's own folder: no `..`, no absolute path, no URL.
const FOLDERS_AND_NAME = '[a-z0-9][a-z0-9-]*(/[a-z0-9][a-z0-9-]*)*'

/** The name of an SVG of the service's own, or the path of a picture. */
export const ICON = new RegExp(
  `^(?=.{1,200}$)([a-z0-9]+(-[a-z0-9]+)*\\.svg|${FOLDERS_AND_NAME}\\.(png|webp))$`,
)

/** The path of a document. */
export const DOCUMENT_PATH = new RegExp(`^(?=.{1,200}$)${FOLDERS_AND_NAME}\\.pdf$`)

/** Whether the name has the form of the service's own icons; all others are files of the catalogue. */
export function isShippedName(icon: string): boolean {
  return icon.endsWith('.svg')
}

/** The path at which an icon of a published catalogue is served, below the base URL. */
export function iconPathOf({ icon }: { readonly icon: string }): string {
  return isShippedName(icon) ? `icons/${icon}` : `files/${icon}`
}
