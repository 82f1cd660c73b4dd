// `npm start`: sets up, and then runs `enrolment dev` in this process, so that signals reach it directly.
import { setUp } from './setup.mjs'

setUp()
process.argv.splice(2, 0, 'dev')
await import('../service/dist/main.js')
