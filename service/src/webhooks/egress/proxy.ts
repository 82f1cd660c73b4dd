/** The operator's proxy: deliveries go through a tunnel of it, so that they come from its fixed addresses. */
import { isIPv6, type Socket } from 'node:net'
import { Fault } from './outcome.ts'

/** Where the proxy is, and the value of `Proxy-Authorization`, if it wants one. */
export type EgressProxy = {
  readonly host: string
  readonly port: number
  readonly authorization: string | undefined
}

const MAX_ANSWER_BYTES = 8 * 1024

/**
 * Has the proxy connect to this address (RFC 9110 §9.3.6): the socket is the endpoint's from then on. The address is an IP
 * address that was checked, so the proxy looks no name up. Throws the Fault `connect` when the proxy cannot connect, and
 * `proxy` when it refuses us, which is no fault of the endpoint.
 */
export async function openTunnel(
  socket: Socket,
  { address, port }: { address: string; port: number },
  { authorization }: EgressProxy,
): Promise<void> {
  const target = `${isIPv6(address) ? `[${address}]` : address}:${port}`
  const credentials = authorization === undefined ? '' : `Proxy-Authorization: ${authorization}\r\n`
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${credentials}\r\n`)
  const head = await readHead(socket)
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1])
  if (status >= 200 && status <= 299) return
  throw new Fault(status >= 500 ? 'connect' : 'proxy', new Error(`the proxy answered ${status || 'no HTTP'}`))
}

/** Reads up to the empty line; what follows stays in the socket. */
function readHead(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let head = Buffer.alloc(0)
    const settle = () => {
      socket.off('readable', read)
      socket.off('close', closed)
    }
    const fail = (fault: Fault) => {
      settle()
      reject(fault)
    }
    const closed = () => fail(new Fault('connect', new Error('the proxy closed the connection')))
    const read = () => {
      for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) {
        head = Buffer.concat([head, chunk as Buffer])
        const end = head.indexOf('\r\n\r\n')
        if (end >= 0) {
          settle()
          if (head.length > end + 4) socket.unshift(head.subarray(end + 4))
          return resolve(head.toString('latin1', 0, end))
        }
        if (head.length > MAX_ANSWER_BYTES) return fail(new Fault('proxy'))
      }
    }
    socket.on('readable', read)
    socket.once('close', closed)
  })
}
