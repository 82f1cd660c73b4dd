// Starts the one file of `one-file.ts`, which is the first argument, with V8's compiled code from an earlier start. A
// process that ends by itself stores that code beside the file if there is none yet.

const { existsSync, readFileSync, renameSync, writeFileSync } = require('node:fs')
const { constants, Script } = require('node:vm')

const [, , file] = process.argv
const kept = `${file}.cache`
const script = new Script(`(function (exports, require, module) {${readFileSync(file, 'utf8')}\n})`, {
  filename: file,
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  ...(existsSync(kept) ? { cachedData: readFileSync(kept) } : {}),
})
if (!existsSync(kept))
  process.on('exit', () => {
    writeFileSync(`${kept}.${process.pid}`, script.createCachedData())
    renameSync(`${kept}.${process.pid}`, kept)
  })
script.runInThisContext()(exports, require, module)
