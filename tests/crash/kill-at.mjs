// Loaded first into `feed run`: kills the process without warning at the point that KILL_AT names.
import { promises } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { Socket } from 'node:net'

function die() {
  process.kill(process.pid, 'SIGKILL')
}
const { mkdir, open, rename } = promises
const { write } = Socket.prototype

/** Before a statement leaves for PostgreSQL. */
function beforeSending(text) {
  Socket.prototype.write = function (chunk, ...more) {
    if (Buffer.from(chunk).includes(text)) die()
    return write.call(this, chunk, ...more)
  }
}

const points = {
  'the run is being stored': () => beforeSending('insert into feed_runs'),
  'the run is stored': () => {
    promises.mkdir = (path, ...more) => (String(path).endsWith('/seaview') ? die() : mkdir(path, ...more))
  },
  'half of the file is written': () => {
    promises.open = async (path, ...more) => {
      const file = await open(path, ...more)
      const { appendFile } = file
      file.appendFile = async bytes => {
        await appendFile.call(file, bytes.subarray(0, bytes.length / 2))
        die()
      }
      return file
    }
  },
  'the file is written': () => {
    promises.rename = die
  },
  'the file has its name': () => {
    promises.rename = async (...paths) => {
      await rename(...paths)
      die()
    }
  },
  'the file was handed over': () => beforeSending('update feed_runs set status'),
}
points[process.env['KILL_AT']]?.()
syncBuiltinESMExports()
