// A Redis for BullMQ, on a socket of its own.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Starts Redis with an append-only file; `fsync` is `always` or `everysec`. `undefined` when Redis is not
 * installed.
 */
export async function startRedis(directory, fsync) {
  if (spawnSync('redis-server', ['--version']).status !== 0) return undefined
  const socket = join(directory, 'redis.sock')
  const settings = ['--port', '0', '--unixsocket', socket, '--dir', directory, '--save', '']
  const durable = ['--appendonly', 'yes', '--appendfsync', fsync, '--maxmemory-policy', 'noeviction']
  const child = spawn('redis-server', [...settings, ...durable], { stdio: 'ignore' })
  const ended = new Promise(resolve => child.once('exit', resolve))
  while (!existsSync(socket) && child.exitCode === null) await sleep(20)
  return {
    socket,
    async stop() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
