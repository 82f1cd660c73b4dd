import { readFileSync } from 'node:fs'

/** The version of the service, as its package says it. */
export const serviceVersion: string = readVersion()

function readVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  return version
}
