// One system under measurement, in a process of its own: it commits events and delivers them. Its parent sends one
// command at a time, and it answers each.
const { system, ...config } = JSON.parse(process.argv[2])
const { open } = await import(new URL(`systems/${system}.mjs`, import.meta.url))
// Of the service a key is the id of the event, which sorts by time; the same for all systems.
const { uuidv7 } = await import(new URL('../../service/dist/vault/uuid.js', import.meta.url))
function now() {
  return Number(process.hrtime.bigint()) / 1e6
}
const opened = await open(config)
let usageAtStart

const sample = {
  userid: 'u-1001',
  eventname: 'offer_activiation_successful',
  currentofferdetails: {
    offer: 'plus',
    updatedat: '2026-11-20T15:04:05.123Z',
    serviceid: '019aa1b2-0c4e-7d3a-9b1f-2c5d7e8f9a0b',
  },
}
const body = JSON.stringify(sample)

const jobs = {
  /** Queues events before anything is sent, spread evenly over the targets. */
  async fill({ count, targets }) {
    for (let from = 0; from < count; from += 5000) {
      const size = Math.min(5000, count - from)
      const events = Array.from({ length: size }, (_, index) => ({
        key: uuidv7(Date.now()),
        body,
        target: targets[(from + index) % targets.length],
      }))
      await opened.queue(events)
    }
  },
  async start() {
    const at = now()
    usageAtStart = process.cpuUsage()
    await opened.start()
    return { at }
  },
  /** Ends what is under way, and sends nothing until the next start. */
  async rest() {
    await opened.rest()
  },
  /** Commits events by the clock, each in a transaction of its own, whether earlier ones have arrived or not. */
  async steady({ rate, seconds, targets }) {
    const committed = []
    const pending = new Set()
    const startedAt = now()
    for (let sent = 0; sent < rate * seconds; ) {
      const dueBy = Math.min(rate * seconds, ((now() - startedAt) / 1000) * rate)
      for (; sent < dueBy; sent += 1) {
        const event = { key: uuidv7(Date.now()), body, target: targets[sent % targets.length] }
        const one = opened.queue([event]).then(() => committed.push([event.key, event.target, now()]))
        pending.add(one)
        one.finally(() => pending.delete(one))
      }
      await new Promise(resolve => setTimeout(resolve, 2))
    }
    await Promise.all(pending)
    return { committed }
  },
  /** Processor time of this process since the start, in microseconds. */
  async usage() {
    const { user, system } = process.cpuUsage(usageAtStart)
    return { micros: user + system }
  },
  async close() {
    await opened.close()
  },
}

process.on('message', async message => {
  const answer = await jobs[message.do](message)
  process.send({ done: message.do, ...answer })
  if (message.do === 'close') process.exit(0)
})
process.send({ done: 'open' })
