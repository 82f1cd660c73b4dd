// Asks hostile endpoints at an even pace and hangs up after 16 KiB of each answer: what they cost a machine that they share
// with the service, whoever asks them.  node visitor.mjs ORIGIN/KIND… PER-SECOND
import { connect } from 'node:net'
import { constants, setPriority } from 'node:os'

setPriority(constants.priority.PRIORITY_LOW)

const targets = process.argv.slice(2, -1).map(text => new URL(text))
const perSecond = Number(process.argv.at(-1))
const body = 'x'.repeat(200)

const visit = ({ hostname, port, pathname }) => {
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
