/** The whole service over the fixture release, in a process of its own: sends its port, and when a message comes how many modules were loaded since. */
import { registerHooks } from 'node:module'
import { parseConfig } from '../../functions/ports/config.ts'
import { createLog } from '../../functions/ports/log.ts'
import { loadProtocols } from '../../functions/protocols/protocols.ts'
import { createService } from '../../functions/service/service.ts'
import { FIXTURE_ENV } from '../support/fixture-env.ts'

const config = parseConfig({ ...FIXTURE_ENV, RATE_LIMITS: '', ...process.env })
const service = await createService({ config, log: createLog(() => {}, Date.now) })
await loadProtocols()
service.server.listen(0, '127.0.0.1', () => process.send?.(service.server.address()))
let loaded = 0
registerHooks({
  load(url, context, next) {
    loaded += 1
    return next(url, context)
  },
})
process.on('message', () => process.send?.(loaded))
process.once('disconnect', () => process.exit(0))
