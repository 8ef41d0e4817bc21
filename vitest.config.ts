import { defineConfig } from 'vitest/config'
import { SlowFirst } from './test/support/slow-first.ts'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/bench/lighthouse/node_modules/**', 'test/**/*.long.test.ts'],
    globalSetup: ['test/support/outbound.ts', 'test/support/build-fixture.ts'],
    setupFiles: 'test/support/same-draws.ts',
    // Node reads TypeScript itself, as in production; Vite took a twentieth of the time for it.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Most of what a test makes is gone when it ends.
    execArgv: ['--max-semi-space-size=32'],
    // All three guard against a hang; what is short is a measurement on a busy machine.
    testTimeout: 60_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 45_000 } },
    // One module graph a worker: loading it anew for each file took as long as a third of the tests.
    isolate: false,
    // On two cores: a worker waits a third of its time, for a browser, a child or a deadline.
    maxWorkers: 3,
    sequence: { sequencer: SlowFirst },
  },
})
