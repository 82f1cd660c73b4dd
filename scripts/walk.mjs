// Which files of the service one request of each kind runs beyond an idle process: those of which a function ran, by V8's coverage of
// a built service that serves. `npm run walk [-- KIND…]`; with `--write` the lists of ARCHITECTURE.md are made anew, with `--check`
// they must be those.
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { startServed } from '../bench/served.mjs'
import { load } from './sources.mjs'

const { WebSocket } = createRequire(new URL('../service/package.json', import.meta.url))('undici')
const { createClient, newVisitor, recordsAgreed } = await load(`
  export { createClient } from './client/src/index.ts'
  export { newVisitor, recordsAgreed } from './tests/page/visitor.ts'`)
const ada = {
  firstname: 'Ada',
  lastname: 'Rivera',
  email: 'ada@example.com',
  zipcode: '33101',
  dob: '1990-03-27',
  phone: '3055550142',
  gender: 'F',
  address: { addline1: '12 Drive', city: 'Miami', state: 'FL', zipcode: '33101' },
}
const asks = { age: 36, state: 'FL', zipcode: '33101', partnername: '', offername: '' }
/** Longer than the pauses of everything that looks by itself for something to do. */
const IDLE_MS = 6000
/** Longer than a process remembers who called, whom it watches meanwhile. */
const FORGOTTEN_MS = 21_000
const words = process.argv.slice(2)
const asked = words.filter(word => !word.startsWith('-'))
const page = new URL('../ARCHITECTURE.md', import.meta.url)
/** The kinds whose files ARCHITECTURE.md lists; of the others it has the number. */
const LISTED = ['prefill', 'benefits']

const receiver = await openReceiver()
// A program under the inspector tells its address on standard error, which is the log here.
const service = await startServed('walk', {
  env: { NODE_OPTIONS: '--inspect=127.0.0.1:0', ENROLMENT_WEBHOOK_ALLOW: '127.0.0.0/8' },
})
const probes = []
try {
  service.publishDemo()
  const consoleUrl = await service.startConsole()
  const urls = [...service.log().matchAll(/listening on (ws:\S+)/g)].map(([, url]) => url)
  for (const url of urls) probes.push(await openProbe(url))
  const lists = await walk(probes, await requestsOf(consoleUrl))
  for (const [kind, files] of Object.entries(lists))
    process.stdout.write(`\n${kind}, ${files.length} files\n${files.map(file => `  ${file}\n`).join('')}`)
  const sums = Object.entries(lists).map(([kind, files]) => `${kind} ${files.length}`)
  process.stdout.write(`\n${sums.join(', ')}\n`)
  keep(lists)
} finally {
  // A program that is being inspected does not end.
  for (const probe of probes) probe.close()
  await service.close()
  receiver.close()
}

/** Writes the lists into ARCHITECTURE.md, or fails where those there are others, as the words of the command say. */
function keep(lists) {
  const before = readFileSync(page, 'utf8')
  const block = /(?<=<!-- walk -->\n)[\s\S]*?(?=<!-- end of walk -->)/
  const listed = LISTED.map(kind => `${kind}, ${lists[kind]?.length}\n${linesOf(lists[kind] ?? [])}`)
  const others = Object.keys(lists).filter(kind => !LISTED.includes(kind))
  const numbers = others.map(kind => `${kind} ${lists[kind].length}`).join(', ')
  const now = `\`\`\`\n${listed.join('')}\`\`\`\nOthers: ${numbers}.\n`
  if (words.includes('--write'))
    writeFileSync(
      page,
      before.replace(block, () => now),
    )
  // The others run what goes on beside them, too, so their numbers are not the same each time.
  const here = (block.exec(before)?.[0] ?? '').split('Others')[0].split('\n')
  const different = now
    .split('Others')[0]
    .split('\n')
    .filter(line => !here.includes(line))
  if (words.includes('--check') && different.length > 0)
    throw new Error(`ARCHITECTURE.md does not list this; npm run walk -- --write: ${different.join('\n')}`)
}

/** A line for each folder with its files. */
function linesOf(files) {
  const folders = {}
  for (const file of files) {
    const at = file.lastIndexOf('/')
    const folder = file.slice(0, Math.max(at, 0)) || '.'
    folders[folder] = [...(folders[folder] ?? []), file.slice(at + 1, -3)]
  }
  return Object.entries(folders)
    .map(([folder, names]) => `  ${folder}: ${names.join(' ')}\n`)
    .join('')
}

/** The files that each request runs. */
async function walk(probes, requests) {
  const take = async () => new Set((await Promise.all(probes.map(probe => probe.take()))).flat())
  // What a first request loads or fills is not its path.
  for (const { prepare, send } of Object.values(requests)) await send(await prepare())
  await sleep(FORGOTTEN_MS)
  const idle = await inEach(async () => {
    await take()
    await sleep(IDLE_MS)
    return take()
  })
  const lists = {}
  for (const [kind, { prepare, send }] of Object.entries(requests)) {
    if (asked.length > 0 && !asked.includes(kind)) continue
    const run = await inEach(async () => {
      const prepared = await prepare()
      await sleep(500)
      await take()
      await send(prepared)
      return take()
    })
    lists[kind] = [...run].filter(file => !idle.has(file)).toSorted()
  }
  return lists
}

/** The files that are in each of three samples: what runs once in a while beside a request, or in an idle process, is neither's. */
async function inEach(sample) {
  const samples = [await sample(), await sample(), await sample()]
  return new Set([...samples[0]].filter(file => samples.every(one => one.has(file))))
}

/** The coverage of a process: `take` gives the files of which a function ran since it was last taken. */
async function openProbe(url) {
  const socket = new WebSocket(url)
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onerror = reject
  })
  const waiting = new Map()
  socket.onmessage = ({ data }) => {
    const { id, result } = JSON.parse(data)
    waiting.get(id)?.(result)
  }
  const call = (method, params = {}) =>
    new Promise(resolve => {
      const id = waiting.size + 1
      waiting.set(id, resolve)
      socket.send(JSON.stringify({ id, method, params }))
    })
  await call('Profiler.enable')
  await call('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  return {
    async take() {
      const { result } = await call('Profiler.takePreciseCoverage')
      return result.flatMap(({ url: file, functions }) => {
        const [, name] = /\/service\/dist\/(.+)\.js$/.exec(file) ?? []
        // The function that begins with the file is the module itself, which runs when it is loaded.
        const hasRun = functions.some(({ ranges: [whole] }) => whole.count > 0 && whole.startOffset > 0)
        return name && hasRun ? [`${name}.ts`] : []
      })
    },
    close: () => socket.close(),
  }
}

/** A receiver of webhooks; `answered` resolves when it has answered the next one. */
async function openReceiver() {
  let wake = () => {}
  const server = createServer((request, response) => {
    request.resume()
    response.end(() => wake())
  })
  await new Promise(ready => server.listen(0, '127.0.0.1', ready))
  return {
    url: `http://127.0.0.1:${server.address().port}/hook`,
    answered: () =>
      new Promise(resolve => {
        wake = resolve
      }),
    close: () => server.close(),
  }
}

/** One request of each kind, and what it is about, made by `prepare`. */
async function requestsOf(consoleUrl) {
  const newPartner = name => {
    const {
      clientid: clientId,
      clientsecret: clientSecret,
      apikey: apiKey,
    } = service.enrolment('partner', 'create', '--name', name)
    return createClient({ baseUrl: service.address, clientId, clientSecret, apiKey })
  }
  const client = newPartner('walk')
  const hearing = newPartner('hearing')
  await hearing.createWebhook({ url: receiver.url, username: 'hook', password: 'pass', events: ['all'] })
  const operator = await signIn(consoleUrl)
  let people = 0
  const newName = () => `walk-${++people}`
  const prefill = async (userid, at = client) => {
    await at.prefillUser({ userid, ...ada }, { idempotencyKey: `prefill-${userid}` })
    return userid
  }
  const create = async () => client.createUser({ userid: newName(), ...ada, offername: 'starter' })
  const openPage = async () => {
    const userid = await prefill(newName())
    const { linkurl } = await client.createLinkToken({ userid, offername: 'starter' })
    const visitor = newVisitor(service.address)
    await visitor.post(service.address + new URL(linkurl).pathname)
    await visitor.get('/register/benefits')
    await visitor.post('/register/benefits', {})
    return visitor
  }
  const wish = { effective: 'endofperiod', cause: 'nonpayment' }
  const openAct = async () => {
    const { serviceid } = await create()
    const path = `/users/${serviceid}/act/cancel`
    const seen = /name="seen" value="([^"]+)"/.exec(await operator(path, wish))?.[1]
    return { path, seen }
  }
  return {
    prefill: { prepare: newName, send: prefill },
    benefits: { prepare: create, send: ({ userid }) => client.getBenefits({ userid, ...asks }) },
    webhook: {
      prepare: newName,
      async send(userid) {
        const isAnswered = receiver.answered()
        await prefill(userid, hearing)
        await isAnswered
        await sleep(1000)
      },
    },
    page: {
      prepare: openPage,
      async send(visitor) {
        const { view, status } = await visitor.post('/register/enrol', recordsAgreed)
        if (view !== 'DONE') throw new Error(`the page showed ${view} ${status}`)
      },
    },
    cancel: {
      prepare: create,
      send: ({ userid }) => client.cancelUser({ userid, effective: 'endofperiod' }),
    },
    erasure: {
      prepare: create,
      async send({ userid }) {
        await client.eraseUser({ userid })
        await sleep(2000)
      },
    },
    act: {
      prepare: openAct,
      send: ({ path, seen }) => operator(path, { ...wish, sure: 'yes', seen, reason: 'call 12' }),
    },
  }
}

/** A browser of an operator: sends a form of the console, and gives what is then shown. */
async function signIn(consoleUrl) {
  const { path } = service.enrolment('operator', 'add', 'walker', '--role', 'admin')
  const form = { origin: consoleUrl, 'content-type': 'application/x-www-form-urlencoded' }
  const signed = await fetch(consoleUrl + path, { method: 'POST', headers: form, redirect: 'manual' })
  const [cookie] = signed.headers.get('set-cookie').split(';')
  const home = await (await fetch(`${consoleUrl}/webhooks`, { headers: { cookie } })).text()
  const token = /name="token" value="([^"]+)"/.exec(home)[1]
  return async (to, fields) => {
    const body = new URLSearchParams({ token, ...fields })
    const answer = await fetch(consoleUrl + to, {
      method: 'POST',
      headers: { ...form, cookie },
      body,
      redirect: 'manual',
    })
    const text = await answer.text()
    if (answer.status !== 200 && answer.status !== 303) throw new Error(`${to}: ${answer.status} ${text}`)
    return text
  }
}
