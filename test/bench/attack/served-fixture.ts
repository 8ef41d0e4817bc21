/** The whole service over the fixture release, for benches that attack it: tells its port, and its memory when asked. */

import { createService } from '../../../functions/app/service.ts'
import { parseConfig } from '../../../functions/ports/config.ts'
import { createLog } from '../../../functions/ports/log.ts'
import { FIXTURE_ENV } from '../../support/fixture-env.ts'

const config = parseConfig({ ...FIXTURE_ENV, RATE_LIMITS: '', ...process.env })
const service = await createService({ config, log: createLog(() => {}, Date.now) })
service.server.listen(0, '127.0.0.1', () => process.send?.({ address: service.server.address() }))
process.on('message', () => process.send?.({ rss: process.memoryUsage.rss() }))
process.once('disconnect', () => process.exit(0))
