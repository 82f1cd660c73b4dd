// `npm start`: sets up, and then runs `enrolment dev` in this process, so that signals reach it directly.
import { refuseOptionsOfNpm } from './options-of-npm.mjs'
import { setUp } from './setup.mjs'

refuseOptionsOfNpm()
setUp()
process.argv.splice(2, 0, 'dev')
await import('../service/dist/main.js')
