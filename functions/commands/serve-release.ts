import { once } from 'node:events'
import { createService } from '../app/service.ts'
import { onStop } from '../operations/on-stop.ts'
import { parseConfig } from '../ports/config.ts'
import { createLog } from '../ports/log.ts'
import { followReleases } from '../releases/follow-releases.ts'

/**
 * Serves until SIGTERM.
 *
 * @param prepare done first, once the environment is known to be right
 * @throws OperatorError when something has to be put right before it can serve
 */
export async function serve(prepare: () => Promise<void> = async () => {}): Promise<void> {
  const config = parseConfig(process.env)
  if (config.UNSAFE_ALLOW_PRIVATE_TARGETS)
    console.warn(
      'UNSAFE_ALLOW_PRIVATE_TARGETS is on: listings and calls may reach private addresses. For tests and local trials only.',
    )
  await prepare()
  const log = createLog((line) => process.stdout.write(line), Date.now)
  await followReleases(config, log)
  const service = await createService({ config, log })
  service.server.listen(config.PORT, config.HOST)
  await once(service.server, 'listening')
  console.log(`Waypost is ready: ${config.BASE_URL} (listening on ${config.HOST}:${config.PORT})`)
  onStop(service.close)
  try {
    await service.verify()
  } catch (error) {
    await service.close()
    throw error
  }
}
