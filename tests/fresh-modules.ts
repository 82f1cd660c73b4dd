import { vi } from 'vitest'

// The files of a worker share the packages that they load, and nothing of ours: what a module keeps (the last UUID, for
// one) begins anew with each file, and so does time.
vi.resetModules()
vi.useRealTimers()
