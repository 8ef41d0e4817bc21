import { type Config, parseConfig } from '../../functions/ports/config.ts'
import { createLog } from '../../functions/ports/log.ts'
import { createService, type Service } from '../../functions/service/service.ts'
import { FIXTURE_ENV } from './fixture-env.ts'
import { forAllTests } from './for-tests.ts'
import { listen } from './listen.ts'
import { liveListing } from './live-listing.ts'
import { tempFolder } from './temp-folder.ts'

export interface RunningService {
  /** `http://127.0.0.1:<port>`; its BASE_URL is another, as behind a proxy. */
  url: string
  service: Service
  /** One more listing in the release, that the relay calls. */
  list(id: string, url: string): void
  /** Every line logged so far. */
  log: string[]
  close(): Promise<void>
}

/** Starts the whole service over the fixture release on a free port of loopback. */
export async function startService(
  overrides: Partial<Record<keyof Config, string>> = {},
): Promise<RunningService> {
  const lines: string[] = []
  const stateDir = tempFolder('state')
  const config = parseConfig({ ...FIXTURE_ENV, STATE_DIR: stateDir, ...overrides })
  const service = await createService({
    config,
    log: createLog((line) => lines.push(line), Date.now),
  })
  return {
    url: `http://127.0.0.1:${await listen(service.server)}`,
    service,
    list(id, url) {
      const { listings } = service.parts.release()
      if (!(listings instanceof Map)) throw new Error('expected a map')
      listings.set(id, { ...liveListing(id, url), buy: 'relay_x402' })
    },
    log: lines,
    close: () => service.close(),
  }
}

/** The same for all tests of the file or `describe` that calls it. */
export function serveFixture(overrides?: Partial<Record<keyof Config, string>>): RunningService {
  return forAllTests(() => startService(overrides))
}
