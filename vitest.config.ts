import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/payments/node_modules/**'],
    globalSetup: 'test/support/build-fixture.ts',
    testTimeout: 30_000,
    hookTimeout: 120_000,
    // Two cores: more workers only fight each other.
    maxWorkers: 2,
  },
})
