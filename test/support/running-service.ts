import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Config, parseConfig } from '../../functions/ports/config.ts'
import { createLog } from '../../functions/ports/log.ts'
import { createService, type Service } from '../../functions/service/service.ts'
import { FIXTURE_ENV } from './fixture-env.ts'
import { forAllTests } from './for-tests.ts'

export interface RunningService {
  /** `http://127.0.0.1:<port>`; its BASE_URL is another, as behind a proxy. */
  url: string
  service: Service
  /** Every line logged so far. */
  log: string[]
  close(): Promise<void>
}

/** Starts the whole service over the fixture release on a free port of loopback. */
export async function startService(
  overrides: Partial<Record<keyof Config, string>> = {},
): Promise<RunningService> {
  const lines: string[] = []
  const stateDir = mkdtempSync(join(tmpdir(), 'waypost-state-'))
  const config = parseConfig({ ...FIXTURE_ENV, STATE_DIR: stateDir, ...overrides })
  const service = await createService({
    config,
    log: createLog((line) => lines.push(line), Date.now),
  })
  service.server.listen(0, '127.0.0.1')
  await once(service.server, 'listening')
  const address = service.server.address()
  if (address === null || typeof address === 'string') throw new Error('expected a port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    service,
    log: lines,
    async close() {
      await service.close()
      rmSync(stateDir, { recursive: true, force: true })
    },
  }
}

/** The same for all tests of the file or `describe` that calls it. */
export function serveFixture(overrides?: Partial<Record<keyof Config, string>>): RunningService {
  return forAllTests(() => startService(overrides))
}
