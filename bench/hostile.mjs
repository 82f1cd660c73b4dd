// Sends bulks that a partner sends who means harm, over many connections, again and again, in a process of its own.
//   echo '{"address":…,"connections":…,"seconds":…,"head":…,"line":…,"bytes":…,"reads":…}' | node bench/hostile.mjs
// Prints {"sent","ended","received"}: bulks begun, connections that ended, and bytes of answers.
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'

const { address, connections, seconds, head, line, bytes, reads } = JSON.parse(await text(process.stdin))
const { hostname, port } = new URL(address)
const body = line.repeat(bytes / line.length)
const request = `${head}Content-Length: ${body.length}\r\n\r\n${body}`
const until = performance.now() + seconds * 1000
const counted = { sent: 0, ended: 0, received: 0 }
const open = new Set()

function attack() {
  const socket = connect(Number(port), hostname)
  open.add(socket)
  counted.sent += 1
  socket.write(request)
  // The end of an answer, in chunks; then the next bulk goes out on the same connection.
  if (reads)
    socket.on('data', part => {
      counted.received += part.length
      if (!part.subarray(-5).equals(Buffer.from('0\r\n\r\n'))) return
      counted.sent += 1
      socket.write(request)
    })
  socket.on('error', () => {})
  socket.on('close', () => {
    open.delete(socket)
    counted.ended += 1
    if (performance.now() < until) setTimeout(attack, 10)
  })
}

for (let at = 0; at < connections; at += 1) attack()
await wait(until - performance.now())
for (const socket of open) socket.destroy()
process.stdout.write(`${JSON.stringify(counted)}\n`)
