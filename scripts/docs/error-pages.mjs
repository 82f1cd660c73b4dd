// Generates a page for each error code from the contract: cause, remedy and an example.
import { errors, exampleProblem, operations } from '../../contract/dist/index.js'
import { linkTo } from './reference-pages.mjs'
import { baseMark } from './render.mjs'

/** The pages of the errors, and the table of all of them. */
export function errorPages() {
  const codes = Object.keys(errors)
  const rows = codes.map(
    code =>
      `| [\`${code}\`](errors/${code}) | ${errors[code].status} | ${errors[code].title} | ${errors[code].remedy} |`,
  )
  const index = `\n## Every code\n\n| code | status | meaning | what to do |\n|---|---|---|---|\n${rows.join('\n')}\n`
  return { index, pages: codes.map(page) }
}

function page(code) {
  const { status, title, cause, remedy } = errors[code]
  const answered = Object.values(operations).filter(operation => operation.errors.includes(code))
  const where =
    answered.length === 0
      ? 'Every operation can answer it.'
      : answered.map(one => `- ${linkTo(one)}, \`${one.method} ${one.path}\``).join('\n')
  const markdown = `# ${code}

Status ${status}: ${title
    .toLowerCase()
    .replace(/idempotency-key/, 'Idempotency-Key')
    .replace(/api key/, 'API key')
    .replace(/json/, 'JSON')
    .replace(/version/, 'Version')}. All codes: [errors](errors.md#every-code).

## Cause

${cause}

## Remedy

${remedy}

## Example

\`\`\`http
HTTP/1.1 ${status}
Content-Type: application/problem+json; charset=utf-8

${JSON.stringify(exampleProblem(code, baseMark), undefined, 2)}
\`\`\`

## Where it is answered

${where}
`
  return { group: 'Errors', path: `errors/${code}`, markdown }
}
