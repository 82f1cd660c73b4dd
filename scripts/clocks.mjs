// Runs `npm start`, and with `--tests` also `npm test`, in this clone under each of twelve clocks: month ends, the days of daylight
// saving, February 29, New Year's Eve, three hours of a day, for Node and PostgreSQL alike. Needs a C compiler.
//   node scripts/clocks.mjs [--tests] [--only 3,7]
import child, { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'

const INSTANTS = [
  '2027-01-31T23:55:00Z',
  '2027-02-01T04:55:00Z',
  '2027-02-01T05:05:00Z',
  '2027-03-14T06:55:00Z',
  '2027-11-07T05:55:00Z',
  '2028-02-29T15:00:00Z',
  '2028-02-29T23:55:00Z',
  '2027-12-31T23:55:00Z',
  '2028-01-01T04:55:00Z',
  '2027-06-15T03:30:00Z',
  '2027-06-15T11:00:00Z',
  '2027-06-15T19:00:00Z',
]
/**
 * What puts the clock of a program ahead. Not libfaketime: while a program waits, it shows signal handlers the true time, so
 * PostgreSQL's time limits of locks and statements never end.
 */
const CLOCK = `
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static long ahead;
__attribute__((constructor)) static void begin(void) { const char *text = getenv("CLOCK_AHEAD"); if (text) ahead = atol(text); }
int clock_gettime(clockid_t id, struct timespec *at) {
  int failed = syscall(SYS_clock_gettime, id, at);
  if (!failed && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) at->tv_sec += ahead;
  return failed;
}
int gettimeofday(struct timeval *at, void *zone) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  *at = (struct timeval){ now.tv_sec, now.tv_nsec / 1000 };
  return 0;
}
time_t time(time_t *at) { struct timespec now; clock_gettime(CLOCK_REALTIME, &now); if (at) *at = now.tv_sec; return now.tv_sec; }
`
/** What the steps that `npm start` prints are answered with: the third sends a key again. */
const ANSWERS = '200 200 409 200 200 200 200 200'

/** PostgreSQL is started with an empty environment: each program that Node starts gets the clock all the same. */
function handOn() {
  const { LD_PRELOAD, CLOCK_AHEAD } = process.env
  const clock = { LD_PRELOAD, CLOCK_AHEAD }
  for (const name of ['spawn', 'spawnSync']) {
    const start = child[name]
    child[name] = (...words) => {
      const options = words.at(-1)
      if (options?.env) words[words.length - 1] = { ...options, env: { ...options.env, ...clock } }
      return start(...words)
    }
  }
  syncBuiltinESMExports()
}

async function starts(env) {
  const data = mkdtempSync(join(tmpdir(), 'enrolment-clock-'))
  const service = spawn('npm', ['start', '--', '--port', '0', '--data', join(data, 'data')], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  })
  let said = ''
  for await (const line of createInterface({ input: service.stdout })) {
    said += `${line}\n`
    if (line.startsWith('# 9.')) break
  }
  service.stdout.resume()
  const steps = said.slice(said.indexOf('# 1.'), said.indexOf('# 9.'))
  const shell = spawn('bash', { env, stdio: ['pipe', 'ignore', 'pipe'] })
  shell.stdin.end(`curl() { command curl -w '%{stderr}%{http_code} ' "$@"; }\n${steps}`)
  const answers = (await text(shell.stderr)).trim()
  process.kill(-service.pid, 'SIGTERM')
  await once(service, 'exit')
  rmSync(data, { recursive: true, force: true })
  return answers === ANSWERS ? 'npm start answers' : `npm start: ${answers || said}`
}

async function tests(env) {
  const run = spawn('npm', ['test'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [[code], ...said] = await Promise.all([once(run, 'close'), text(run.stdout), text(run.stderr)])
  const lines = said.join('\n').split('\n')
  return (code === 0 ? lines.filter(line => /Tests |Duration/.test(line)) : lines).join('\n')
}

async function main() {
  const { values } = parseArgs({ options: { tests: { type: 'boolean' }, only: { type: 'string' } } })
  const folder = mkdtempSync(join(tmpdir(), 'enrolment-clock-'))
  const library = join(folder, 'clock.so')
  execFileSync('cc', ['-shared', '-fPIC', '-O2', '-x', 'c', '-o', library, '-'], { input: CLOCK })
  // PostgreSQL runs as a user of its own where this is root.
  chmodSync(folder, 0o755)
  const only = values.only?.split(',').map(Number)
  for (const [index, instant] of INSTANTS.entries()) {
    if (only && !only.includes(index + 1)) continue
    const env = {
      ...process.env,
      LD_PRELOAD: library,
      CLOCK_AHEAD: String(Math.round((Date.parse(instant) - Date.now()) / 1000)),
      NODE_OPTIONS: `--import=${import.meta.url}`,
    }
    process.stdout.write(`${index + 1}. ${instant}: ${await starts(env)}\n`)
    if (values.tests) process.stdout.write(`${await tests(env)}\n`)
  }
  rmSync(folder, { recursive: true })
}

if (process.env.CLOCK_AHEAD) handOn()
else await main()
