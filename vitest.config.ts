import { defineConfig } from 'vitest/config'

export default defineConfig({
  ssr: { resolve: { conditions: ['source', 'module', 'node', 'development|production'] } },
  test: {
    include: ['*/src/**/*.test.ts', 'tests/**/*.test.ts'],
    globalSetup: ['tests/global-setup.ts'],
    testTimeout: 60_000,
    // Bounds that only catch a hang.
    expect: { poll: { timeout: 20_000 } },
    hookTimeout: 120_000,
    maxWorkers: 2,
  },
})
