import { once } from 'node:events'
import { compileWhatIsStale } from './compile-what-is-stale.ts'
import { ConfigError, parseConfig } from './config.ts'
import { ReleaseError } from './load-release.ts'
import { createLog } from './log.ts'
import { StateError } from './operations/state-lock.ts'
import { createService } from './service.ts'

/** `npm start`: compiles what is stale, then serves until SIGTERM. */
try {
  await start()
} catch (error) {
  const isPlain =
    error instanceof ConfigError || error instanceof ReleaseError || error instanceof StateError
  console.error(isPlain ? error.message : error)
  process.exitCode = 1
}

async function start(): Promise<void> {
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
}
