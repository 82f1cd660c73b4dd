import type { BulkCancel, CreateUser, Prefill, UpdateUser, UseridRequest } from './generated.ts'

/** One write of a bulk. Without `key` it gets a random one, the same each time it is sent. */
export type BulkLine =
  | { operation: 'prefill'; key?: string; body: Prefill }
  | { operation: 'create'; key?: string; body: CreateUser }
  | { operation: 'update'; key?: string; body: UpdateUser }
  | { operation: 'cancel'; key?: string; body: BulkCancel }
  | { operation: 'erase'; key?: string; body: UseridRequest }

/** A line as it is sent, every time the same, and its number among all lines. */
export type LineToSend = { readonly number: number; readonly operation: string; readonly text: string }

const MOST_LINES = 1_000
const MOST_CHARACTERS = 1_000_000

/**
 * Gathers lines for one request each. A request never has two lines about one user: if the first were refused for load and sent
 * again, it would undo the second.
 */
export async function* linesToSend(
  lines: Iterable<BulkLine> | AsyncIterable<BulkLine>,
): AsyncGenerator<LineToSend[]> {
  let gathered: LineToSend[] = []
  let characters = 0
  let number = 0
  const users = new Set<string>()
  for await (const line of lines) {
    const text = `${JSON.stringify({ ...line, key: line.key ?? crypto.randomUUID() })}\n`
    const isFull = gathered.length >= MOST_LINES || characters + text.length > MOST_CHARACTERS
    if (gathered.length > 0 && (isFull || users.has(line.body.userid))) {
      yield gathered
      gathered = []
      characters = 0
      users.clear()
    }
    number += 1
    gathered.push({ number, operation: line.operation, text })
    characters += text.length
    users.add(line.body.userid)
  }
  if (gathered.length > 0) yield gathered
}
