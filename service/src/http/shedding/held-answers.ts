import type { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import type { Asker, Gate } from './gate.ts'

/** Bytes of an answer that count as one request in flight while they wait to be taken. */
const bytesAsRequest = 65_536

/**
 * Counts as requests in flight what the caller has yet to receive of a large answer, until it is sent or given up: the
 * answer is held in memory for so long.
 */
export function holdUntilTaken(gate: Gate, asker: Asker, { raw, request }: FastifyReply): void {
  if (raw.writableLength < bytesAsRequest / 4) return
  // By then the operating system has taken what it can take at once.
  setImmediate(() => {
    const { socket } = request.raw
    const waiting = socket.destroyed || raw.destroyed || raw.writableFinished ? 0 : raw.writableLength
    if (waiting < bytesAsRequest / 4) return
    const weight = Math.ceil(waiting / bytesAsRequest)
    gate.enter(asker, weight)
    const leave = () => {
      if (held.get(socket)?.delete(leave)) gate.leave(asker, weight)
    }
    holdsOf(socket).add(leave)
    raw.once('close', leave)
  })
}

/** What is counted on each connection, since an answer that waits behind another never closes when the caller goes. */
const held = new WeakMap<Socket, Set<() => void>>()

function holdsOf(socket: Socket): Set<() => void> {
  const known = held.get(socket)
  if (known) return known
  const holds = new Set<() => void>()
  held.set(socket, holds)
  socket.once('close', () => {
    for (const leave of holds) leave()
  })
  return holds
}
