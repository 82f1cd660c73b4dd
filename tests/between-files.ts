import { vi } from 'vitest'
import { forgetLastUuid } from '../service/src/vault/uuid.ts'
import './database/written-statements.ts'

// The files of a worker share its process and all that was loaded in it (`isolate` in vitest.config.ts). Time starts anew
// with each of them, and with it the ids that are made of it. Everything else that our modules keep (what was
// compiled, formatted or drawn) is valid for every file, in any order.
vi.useRealTimers()
forgetLastUuid()
