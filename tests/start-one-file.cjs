const { existsSync, readFileSync, renameSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { Writable } = require('node:stream')
const { setFlagsFromString } = require('node:v8')
const { Script } = require('node:vm')

/**
 * Starts the file that `one-file.ts` made, with V8's compiled code from an earlier start of the same command. The first process
 * of a command that ends by itself, or has run for three seconds, stores that code beside the file.
 */
exports.start = file => {
  const [, , command = ''] = process.argv
  const kept = `${file}.${command.replace(/\W/g, '')}.cache`
  const isKept = existsSync(kept)
  const script = compile(file, isKept ? { cachedData: readFileSync(kept) } : {})
  if (!isKept) {
    process.on('exit', () => keep(kept, script))
    // Some tests kill every service that they start. It goes on with the flag that it had set for itself.
    setTimeout(() => {
      keep(kept, script)
      setFlagsFromString('--heap-growing-percent=60')
    }, 3000).unref()
  }
  load(script, process)
}

/**
 * Stays, and runs one command after the other: each message has its words, environment and folder, and each answer its exit
 * code and what it wrote. Every command loads the modules anew, so it finds nothing of those before it but compiled code.
 */
exports.stay = file => {
  const script = compile(file)
  process.on('message', ({ words, env, cwd }) => {
    const written = { stdout: '', stderr: '' }
    // Its folder is removed after the test; this one stays.
    const answer = code => {
      process.chdir(tmpdir())
      process.send({ code, ...written })
    }
    process.chdir(cwd)
    load(script, ownProcess({ words, env, file, written, answer }))
  })
  process.on('disconnect', () => process.exit())
}

/** What a command takes for its process: it ends by giving an exit code, after the one that says that it has not ended yet. */
function ownProcess({ words, env, file, written, answer }) {
  const begun = 70
  const taking = name =>
    new Writable({
      decodeStrings: false,
      write: (text, _encoding, done) => {
        written[name] += text
        done()
      },
    })
  let exitCode
  return Object.create(process, {
    argv: { value: [process.execPath, file, ...words] },
    env: { value: env },
    stdout: { value: taking('stdout') },
    stderr: { value: taking('stderr') },
    exitCode: {
      get: () => exitCode,
      set: code => {
        if (exitCode !== undefined || code !== begun) answer(code)
        exitCode = code
      },
    },
  })
}

function compile(file, options) {
  const program = `(function (exports, require, module, process, importElsewhere) {${readFileSync(file, 'utf8')}\n})`
  return new Script(program, { filename: file, ...options })
}

function load(script, ofCommand) {
  const module = { exports: {} }
  script.runInThisContext()(module.exports, require, module, ofCommand, path => import(path))
}

function keep(path, script) {
  try {
    // V8 takes stored code only under the flags under which it was stored, and a service sets this one when it begins to serve.
    setFlagsFromString('--heap-growing-percent=0')
    writeFileSync(`${path}.${process.pid}`, script.createCachedData())
    renameSync(`${path}.${process.pid}`, path)
  } catch {
    // An ordinary user may not write here, and a later start by its owner stores it.
  }
}
