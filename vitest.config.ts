import { defineConfig } from 'vitest/config'
import { SlowFirst } from './test/support/slow-first.ts'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/bench/lighthouse/node_modules/**', 'test/**/*.long.test.ts'],
    globalSetup: ['test/support/outbound.ts', 'test/support/build-fixture.ts'],
    setupFiles: 'test/support/same-draws.ts',
    // A release's page code is Node's to import, as in production.
    server: { deps: { external: [/\/server\/[0-9a-f]{32}\//] } },
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
