import { vi } from 'vitest'

// The files of a worker share loaded packages, but not our modules: the state of a module (for example the last UUID)
// starts anew with each file, and so does time.
vi.resetModules()
vi.useRealTimers()
