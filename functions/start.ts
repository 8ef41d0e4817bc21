import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createRelay } from './call/relay.ts'
import { ConfigError, parseConfig } from './config.ts'
import { createLog } from './log.ts'
import type { Parts } from './parts.ts'
import { systemClock } from './ports/clock.ts'
import { createResolver } from './ports/resolver.ts'
import { createProblems } from './problem.ts'
import { createRateLimits } from './rate-limits.ts'
import { createReleaseHolder } from './release-holder.ts'
import { createSearchRoute } from './search-route.ts'
import { createWaypostServer } from './server.ts'

/** In-flight work may take this long after SIGTERM (milliseconds). */
const GRACE = 10_000

/** `npm start`: compiles what is stale, then serves. */
try {
  await start()
} catch (error) {
  console.error(error instanceof ConfigError ? error.message : error)
  process.exitCode = 1
}

async function start(): Promise<void> {
  const config = parseConfig(process.env)
  if (config.UNSAFE_ALLOW_PRIVATE_TARGETS)
    console.warn(
      'UNSAFE_ALLOW_PRIVATE_TARGETS is on: listings and calls may reach private addresses. For tests and local trials only.',
    )
  await compileWhatIsStale()
  const log = createLog((line) => process.stdout.write(line), systemClock.now)
  const problem = createProblems(config.BASE_URL)
  const releases = createReleaseHolder({
    outDir: resolve(config.OUT_DIR),
    baseUrl: config.BASE_URL,
    log,
  })
  const parts: Parts = {
    config,
    problem,
    clock: systemClock,
    log,
    resolver: createResolver(config.DNS_SERVERS),
    limits: createRateLimits(config),
    release: releases.current,
  }
  const server = createWaypostServer({
    parts,
    handlers: { search: createSearchRoute(parts) },
    relay: createRelay(parts),
  })
  server.listen(config.PORT, config.HOST)
  await once(server, 'listening')
  console.log(`Waypost serves ${config.BASE_URL} on ${config.HOST}:${config.PORT}`)
  process.once('SIGTERM', () => stop())
  process.once('SIGINT', () => stop())

  function stop(): void {
    releases.close()
    server.close(() => process.exit(0))
    server.closeIdleConnections()
    setTimeout(() => process.exit(0), GRACE).unref()
  }
}

/** In a process of its own: a build's memory is not the server's. */
async function compileWhatIsStale(): Promise<void> {
  const build = spawn(
    process.execPath,
    [fileURLToPath(new URL('build.ts', import.meta.url)), '--if-stale'],
    { stdio: 'inherit' },
  )
  const [code] = await once(build, 'exit')
  if (code !== 0) throw new ConfigError('The content could not be compiled; see above.')
}
