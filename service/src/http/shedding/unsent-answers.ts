import type { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import type { Asker, Gate } from './gate.ts'

/** While an answer waits to be received, each of this many bytes counts as one request in flight. */
const BYTES_AS_REQUEST = 65_536

/**
 * Counts the unsent part of a large answer as requests in flight, until it is sent or given up, because the answer
 * occupies memory for that time.
 */
export function countUntilSent(gate: Gate, asker: Asker, { raw, request }: FastifyReply): void {
  if (raw.writableLength < BYTES_AS_REQUEST / 4) return
  // By then the operating system has accepted what it can accept at once.
  setImmediate(() => {
    const { socket } = request.raw
    const waiting = socket.destroyed || raw.destroyed || raw.writableFinished ? 0 : raw.writableLength
    if (waiting < BYTES_AS_REQUEST / 4) return
    const weight = Math.ceil(waiting / BYTES_AS_REQUEST)
    gate.enter(asker, weight)
    const leave = () => {
      if (counted.get(socket)?.delete(leave)) gate.leave(asker, weight)
    }
    countsOf(socket).add(leave)
    raw.once('close', leave)
  })
}

/**
 * The counts of each connection: an answer that waits behind another never reports a close when the caller disconnects.
 */
const counted = new WeakMap<Socket, Set<() => void>>()

function countsOf(socket: Socket): Set<() => void> {
  const known = counted.get(socket)
  if (known) return known
  const counts = new Set<() => void>()
  counted.set(socket, counts)
  socket.once('close', () => {
    for (const leave of counts) leave()
  })
  return counts
}
