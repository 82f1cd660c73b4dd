// Options before `--` are npm's own: `npm start --port 9000` gives us "9000", and `npm start --port=9000` nothing at all.

/** Ends the process with a sentence when npm has kept an option of `enrolment dev` to itself. */
export function refuseOptionsOfNpm() {
  const { npm_lifecycle_event: script, ...environment } = process.env
  const kept = ['port', 'host', 'data'].filter(name => environment[`npm_config_${name}`] !== undefined)
  if (kept.length === 0) return
  const command = script === 'start' ? 'npm start' : `npm run ${script}`
  process.stderr.write(`Write options after \`--\`, else npm keeps them: ${command} -- --${kept[0]} …\n`)
  process.exit(2)
}
