// The limit: undici alone, with nothing stored, signed or logged.
import { Agent, request } from 'undici'

export async function open({ origin, concurrency }) {
  const agent = new Agent({ connections: concurrency, pipelining: 1 })
  const waiting = []
  let lanes = []
  const send = async ({ key, body, target }) => {
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': key }
    const answer = await request(new URL(target, origin), {
      method: 'POST',
      headers,
      body,
      dispatcher: agent,
    })
    await answer.body.text()
  }
  const lane = async () => {
    for (let event = waiting.pop(); event; event = waiting.pop()) await send(event).catch(() => {})
  }
  const run = () => {
    lanes = Array.from({ length: concurrency }, lane)
  }
  let isStarted = false
  return {
    async queue(events) {
      waiting.push(...events)
      if (isStarted) for (const _ of events) lanes.push(lane())
    },
    async start() {
      isStarted = true
      run()
    },
    async rest() {
      await Promise.allSettled(lanes)
      isStarted = false
    },
    async close() {
      await Promise.allSettled(lanes)
      await agent.close()
    },
  }
}
