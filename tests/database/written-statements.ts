import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'

// Writes each statement that the tests of this process send into the folder STATEMENTS, once, for `statements.ts`.

const folder = process.env['STATEMENTS']
if (folder) {
  mkdirSync(folder, { recursive: true })
  const seen = new Set<string>()
  const { query } = pg.Client.prototype
  pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
    const [asked] = given as [string | { text?: string }]
    const text = typeof asked === 'string' ? asked : asked.text
    if (text && !seen.has(text) && /^\s*(select|insert|update|delete|with)\b/.test(text)) {
      seen.add(text)
      appendFileSync(join(folder, `${process.pid}`), `${JSON.stringify(text)}\n`)
    }
    return Reflect.apply(query, this, given)
  } as typeof query
}
