const { existsSync, readFileSync, renameSync, writeFileSync } = require('node:fs')
const { constants, Script } = require('node:vm')

/**
 * Starts the file that `one-file.ts` made, with V8's compiled code from an earlier start of the same command. The first process
 * of a command that ends by itself stores that code beside the file.
 */
module.exports = file => {
  const [, , command = ''] = process.argv
  const kept = `${file}.${command.replace(/\W/g, '')}.cache`
  const isKept = existsSync(kept)
  leaveOutOwnWarning()
  const script = new Script(`(function (exports, require, module) {${readFileSync(file, 'utf8')}\n})`, {
    filename: file,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(isKept ? { cachedData: readFileSync(kept) } : {}),
  })
  if (!isKept) process.on('exit', () => keep(kept, script))
  const module = { exports: {} }
  script.runInThisContext()(module.exports, require, module)
}

/** Node warns that the loader above is experimental, at the first `import()`. Tests read all that a command writes. */
function leaveOutOwnWarning() {
  const { emitWarning } = process
  process.emitWarning = (warning, ...more) => {
    if (!String(warning).includes('USE_MAIN_CONTEXT_DEFAULT_LOADER'))
      emitWarning.call(process, warning, ...more)
  }
}

function keep(path, script) {
  try {
    writeFileSync(`${path}.${process.pid}`, script.createCachedData())
    renameSync(`${path}.${process.pid}`, path)
  } catch {
    // An ordinary user may not write here, and a later start by its owner stores it.
  }
}
