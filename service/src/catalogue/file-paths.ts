import type { Cursor } from './cursor.ts'

/** A file that a catalogue names: where, its path beside the catalogue or the name of a shipped icon, and what for. */
export type FileMention = {
  readonly at: Cursor
  readonly path: string
  readonly use: 'icon' | 'document'
}

/** The endings of pictures. */
export const PICTURES = ['png', 'webp'] as const

/** The endings of documents. */
export const DOCUMENTS = ['pdf'] as const

/** Whether this is the name of an SVG such as those that ship with us; never a path. */
export function isShippedName(text: string): boolean {
  return /^[a-z0-9]+(-[a-z0-9]+)*\.svg$/.test(text) && text.length <= 64
}

/** Whether this is a path below the catalogue's own folder with one of the endings; an address never is. */
export function isPathOf(text: string, endings: readonly string[]): boolean {
  if (text.length > 200 || !/^[a-z0-9][a-z0-9-]*(\/[a-z0-9][a-z0-9-]*)*\.[a-z]+$/.test(text)) return false
  return endings.includes(text.slice(text.lastIndexOf('.') + 1))
}

/** Where an icon of a published catalogue is served, below the base URL. */
export function iconPathOf({ icon }: { readonly icon: string }): string {
  return isShippedName(icon) ? `icons/${icon}` : `files/${icon}`
}
