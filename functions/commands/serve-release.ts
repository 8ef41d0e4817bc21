import { once } from 'node:events'
import { OperatorError } from '../../src/domain/wire/problems.ts'
import { parseConfig } from '../ports/config.ts'
import { createLog } from '../ports/log.ts'
import { onStop } from '../ports/run-main.ts'
import { loadProtocols } from '../protocols/protocols.ts'
import { createService } from '../service/service.ts'

/**
 * Serves until SIGTERM.
 * @param prepare work to do first, once the environment is known to be valid
 * @throws OperatorError if the operator must fix something first
 */
export async function serve(prepare: () => Promise<void> = async () => {}): Promise<void> {
  const config = parseConfig(process.env)
  if (config.UNSAFE_ALLOW_PRIVATE_TARGETS)
    console.warn(
      'UNSAFE_ALLOW_PRIVATE_TARGETS is on: listings and calls may reach private addresses. For tests and local trials only.',
    )
  await prepare()
  const log = createLog((line) => process.stdout.write(line), Date.now)
  const service = await createService({ config, log })
  try {
    service.server.listen(config.PORT, config.HOST)
    await once(service.server, 'listening')
  } catch (error) {
    // Otherwise the service's timers and lock would outlive the failure.
    await service.close()
    const reason = error instanceof Error && 'code' in error ? error.code : error
    throw new OperatorError(
      `The server cannot listen on ${config.HOST}:${config.PORT} (${String(reason)}): set HOST and PORT to a free address of this machine`,
    )
  }
  console.log(`Waypost is ready: ${config.BASE_URL} (listening on ${config.HOST}:${config.PORT})`)
  onStop(service.close)
  await loadProtocols()
}
