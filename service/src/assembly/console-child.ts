import { fork } from 'node:child_process'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describeCause, type Log } from '../log.ts'
import type { Service } from '../service.ts'
import {
  type ConsoleReport,
  type ConsoleSettings,
  openQuestions,
  type ToConsole,
  type ToService,
} from './console-messages.ts'
import type { Serving } from './console-service.ts'

/** A console's process, from the service's side. */
export type ConsoleChild = {
  /** Hands a connection over, now or once the process takes them. */
  handOver(socket: Socket): void
  /** Tells it whether writes are refused. */
  noteWrites(refused: boolean): void
  /** What it says of itself; `undefined` when it does not say so within a second. */
  report(): Promise<ConsoleReport | undefined>
  /** Lets it answer what it accepted, and waits for its end, which is forced after a while. */
  stop(): Promise<void>
}

// This path leads to the built file, whether this code runs from `src` or from `dist`.
const program = fileURLToPath(new URL('../../dist/console-main.js', import.meta.url))
const REPORT_MS = 1000
/** Short enough that the service, which has 14 s from a signal to its end, can do the rest. */
const STOP_MS = 5000

/** Starts the process. `onEnd` is called once, with the code or the signal that ended it. */
export function startConsoleChild(context: {
  readonly settings: ConsoleSettings
  readonly service: Service
  readonly log: Log
  /** Answers a browser whose connection the process can no longer take. */
  readonly refuse: (socket: Socket) => void
  readonly onEnd: (how: { readonly code: number | null; readonly signal: string | null }) => void
}): ConsoleChild {
  const { settings, log, refuse } = context
  const serving = servingOf(context.service)
  // The secrets of the environment are sent over the channel with the other settings.
  const { DATABASE_URL: _url, ENROLMENT_ROOT_KEY: _key, ...env } = process.env
  const child = fork(program, [], { env, execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const questions = openQuestions()
  const early: Socket[] = []
  const onTheWay = new Set<Socket>()
  const begunAt = performance.now()
  let isReady = false
  let hasEnded = false
  let onEnded = () => {}
  const ended = new Promise<void>(resolve => {
    onEnded = resolve
  })
  const end = (code: number | null, signal: string | null) => {
    if (hasEnded) return
    hasEnded = true
    questions.end()
    for (const socket of early.splice(0)) refuse(socket)
    // Node silently drops the connections that it had not sent yet.
    for (const socket of onTheWay) socket.destroy()
    onEnded()
    context.onEnd({ code, signal })
  }
  // A message to a process that is ending may be lost: its end is reported anyway. A process that was never started has
  // no channel.
  const send = (message: ToConsole) => {
    if (child.connected) child.send(message, ignore)
  }
  const hand = (socket: Socket) => {
    const message: ToConsole = { kind: 'connection' }
    if (!child.connected) {
      refuse(socket)
      return
    }
    onTheWay.add(socket)
    child.send(message, socket, error => {
      onTheWay.delete(socket)
      if (error) socket.destroy()
    })
  }
  const answer = (id: number, ask: (...given: unknown[]) => Promise<unknown>, given: unknown[]) =>
    ask(...given).then(
      value => send({ kind: 'answer', id, value }),
      () => send({ kind: 'answer', id, failed: true }),
    )
  child.on('message', (message: ToService) => {
    if (message.kind === 'log') log(message.event, message.fields)
    else if (message.kind === 'call') answer(message.id, serving[message.name] as never, message.args)
    else if (message.kind === 'answer') questions.answered(message)
    else if (message.kind === 'ready') {
      isReady = true
      log('console_started', { ms: Math.round(performance.now() - begunAt) })
      for (const socket of early.splice(0)) hand(socket)
    }
  })
  child.once('exit', (code, signal) => {
    // Its last messages, such as why it ends, may not have arrived yet.
    if (child.connected) child.once('disconnect', () => end(code, signal))
    else end(code, signal)
  })
  child.on('error', error => {
    log('console_failed', describeCause(error))
    // A process that could not be started emits no `exit`.
    if (child.pid === undefined) end(null, null)
  })
  send({ kind: 'start', settings })
  return {
    handOver(socket) {
      if (hasEnded) refuse(socket)
      else if (isReady) hand(socket)
      else early.push(socket)
    },
    noteWrites: refused => send({ kind: 'writes', refused }),
    report: () =>
      Promise.race([
        questions.ask<ConsoleReport>(id => send({ kind: 'report', id })).catch(() => undefined),
        sleep(REPORT_MS, undefined, { ref: false }),
      ]),
    async stop() {
      if (hasEnded) return
      send({ kind: 'stop' })
      const force = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
      await ended
      clearTimeout(force)
    },
  }
}

/** What a console may ask this process, which serves partners, and tell it. */
export function servingOf({ dispatcher, metrics, forget, listErasure }: Service): Serving {
  return {
    deliver: async partnerIds => (partnerIds ? dispatcher.nudge(new Set(partnerIds)) : dispatcher.refresh()),
    forget: async partnerId => forget(partnerId),
    about: async () => ({
      metrics: await metrics(),
      memoryBytes: process.memoryUsage.rss(),
      uptimeSeconds: process.uptime(),
    }),
    listErasure,
  }
}

function ignore() {}
