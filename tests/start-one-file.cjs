const { existsSync, readFileSync, renameSync, writeFileSync } = require('node:fs')
const { setFlagsFromString } = require('node:v8')
const { Script } = require('node:vm')

/**
 * Starts the file that `one-file.ts` made, with V8's compiled code from an earlier start of the same command. The first process
 * of a command that ends by itself stores that code beside the file.
 */
module.exports = file => {
  const [, , command = ''] = process.argv
  const kept = `${file}.${command.replace(/\W/g, '')}.cache`
  const isKept = existsSync(kept)
  const program = `(function (exports, require, module, importElsewhere) {${readFileSync(file, 'utf8')}\n})`
  const script = new Script(program, {
    filename: file,
    ...(isKept ? { cachedData: readFileSync(kept) } : {}),
  })
  if (!isKept) process.on('exit', () => keep(kept, script))
  const module = { exports: {} }
  script.runInThisContext()(module.exports, require, module, path => import(path))
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
