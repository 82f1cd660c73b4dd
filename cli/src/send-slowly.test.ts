import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { sendPieces } from './send-slowly.ts'

test('to a receiver that answers without reading, the rest is not piled up, and Node warns of nothing', async () => {
  const receiver = createServer((request, response) => {
    request.pause()
    response.writeHead(200).flushHeaders()
  })
  await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
  const warnings: Error[] = []
  const onWarning = (warning: Error) => warnings.push(warning)
  process.on('warning', onWarning)
  onTestFinished(() => {
    process.off('warning', onWarning)
    receiver.closeAllConnections()
    receiver.close()
  })
  const { port } = receiver.address() as AddressInfo
  const pieces = Array.from({ length: 40 }, () => Buffer.alloc(1_000_000))
  expect(await sendPieces(`http://127.0.0.1:${port}/hook`, {}, pieces)).toMatchObject({ status: 200 })
  // Warnings come with the next turn.
  await new Promise(resolve => setImmediate(resolve))
  expect(warnings).toEqual([])
})
