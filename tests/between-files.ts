import { vi } from 'vitest'
import { forgetLastUuid } from '../service/src/vault/uuid.ts'

// The files of a worker share its process and all that was loaded in it (`isolate` in vitest.config.ts). Time starts anew
// with each of them, and with it the ids that are made of it. Everything else that our modules keep holds in any order of
// the files: what was compiled, formatted or drawn before.
vi.useRealTimers()
forgetLastUuid()
