import { once } from 'node:events'
import { createService } from '../app/service.ts'
import { parseConfig } from '../ports/config.ts'
import { createLog } from '../ports/log.ts'
import { compileWhatIsStale } from './compile-what-is-stale.ts'

/**
 * Compiles what is stale, then serves until SIGTERM.
 *
 * @throws ConfigError, ReleaseError, SearchIndexError and StateError, whose messages say what would
 *   be right.
 */
export async function serve(): Promise<void> {
  const config = parseConfig(process.env)
  if (config.UNSAFE_ALLOW_PRIVATE_TARGETS)
    console.warn(
      'UNSAFE_ALLOW_PRIVATE_TARGETS is on: listings and calls may reach private addresses. For tests and local trials only.',
    )
  await compileWhatIsStale()
  const log = createLog((line) => process.stdout.write(line), Date.now)
  const service = await createService({ config, log })
  service.server.listen(config.PORT, config.HOST)
  await once(service.server, 'listening')
  console.log(`Waypost is ready: ${config.BASE_URL} (listening on ${config.HOST}:${config.PORT})`)
  const stop = () => void service.close().then(() => process.exit(0))
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
  try {
    await service.verify()
  } catch (error) {
    await service.close()
    throw error
  }
}
