// Endpoints that break every rule, in a process of their own: the path says which rule. In reality they would have
// a machine of their own; here they get the processor time that is left.
import { createServer } from 'node:net'
import { constants, setPriority } from 'node:os'

setPriority(constants.priority.PRIORITY_LOW)

const head = 'HTTP/1.1 200 OK\r\n'
const piece = 'x'.repeat(65_536)

/** Writes as long as the other side reads, 100 MB at most. */
function flood(socket, text) {
  while (socket.writable && socket.bytesWritten < 100_000_000) if (!socket.write(text)) break
  socket.once('drain', () => flood(socket, text))
}

const kinds = {
  silent: () => {},
  drip: socket => {
    const timer = setInterval(() => socket.write('H'), 1000)
    socket.once('close', () => clearInterval(timer))
  },
  flood: socket => {
    socket.write(`${head}content-length: 104857600\r\n\r\n`)
    flood(socket, piece)
  },
  chunks: socket => {
    socket.write(`${head}transfer-encoding: chunked\r\n\r\n`)
    flood(socket, '1\r\nx\r\n'.repeat(1000))
  },
  headers: socket => flood(socket, head + 'x: y\r\n'.repeat(5000)),
  reset: socket => socket.resetAndDestroy(),
}

let most = 0
const server = createServer(socket => {
  socket.on('error', () => {})
  socket.on('close', () => {
    most = Math.max(most, socket.bytesWritten)
  })
  socket.on('data', data => {
    const [, kind = 'silent'] = /^POST \/(\w+)/.exec(data.toString('latin1')) ?? []
    kinds[kind]?.(socket)
  })
})

process.on('message', () => process.send({ most }))
server.listen(0, '127.0.0.1', () => {
  const origin = `http://127.0.0.1:${server.address().port}`
  process.send({ targets: Object.keys(kinds).map(kind => `${origin}/${kind}`) })
})
