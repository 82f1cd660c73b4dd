import { type BuiltFile, builtFolder, readBuiltFile, readManifest } from '../../http/built-files.ts'

/** The files that a browser loads for the console, by their addresses. */
export type ConsoleFiles = {
  readonly script: string
  readonly stylesheet: string
  readonly icon: string
  readonly served: ReadonlyMap<string, BuiltFile>
}

type Manifest = {
  readonly icon: string
  readonly console: { readonly script: string; readonly stylesheet: string }
}

/** Reads the files that scripts/build-browser.mjs built for the console; rejects when nothing was built. */
export async function readConsoleFiles(folder: URL = builtFolder): Promise<ConsoleFiles> {
  const { icon, console } = await readManifest<Manifest>(folder)
  const served = new Map<string, BuiltFile>()
  for (const name of [console.script, console.stylesheet, icon])
    served.set(`/files/${name}`, await readBuiltFile(folder, name))
  return {
    script: `/files/${console.script}`,
    stylesheet: `/files/${console.stylesheet}`,
    icon: `/files/${icon}`,
    served,
  }
}
