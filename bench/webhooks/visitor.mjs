// Requests hostile endpoints at an even rate and hangs up after 16 KiB of each answer, to show what these endpoints
// cost the machine that they share with the service, whoever requests them.
//   node visitor.mjs ORIGIN/KIND… PER-SECOND
import { connect } from 'node:net'
import { constants, setPriority } from 'node:os'

setPriority(constants.priority.PRIORITY_LOW)

const targets = process.argv.slice(2, -1).map(text => new URL(text))
const perSecond = Number(process.argv.at(-1))
const body = 'x'.repeat(200)

function visit({ hostname, port, pathname }) {
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.on('data', () => {
    if (socket.bytesRead > 16_384) socket.destroy()
  })
  socket.write(
    `POST ${pathname} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
}

let visits = 0
setInterval(() => visit(targets[visits++ % targets.length]), 1000 / perSecond)
