import { RETENTION } from '../../../src/domain/wire/retention.ts'
import { applyRetention } from '../../analytics/retention.ts'
import { runCommand } from '../../operations/run-main.ts'
import { openStore } from '../../store/open-store.ts'

/** `npm run retention`: folds and drops what is past its time; a running server does it hourly. */
await runCommand(async (config, log) => {
  await using store = await openStore(config, log)
  await applyRetention(store, Date.now())
  return `done: search ids kept ${RETENTION.click_sid_hours} hours, single clicks ${RETENTION.click_days} days, counts ${RETENTION.count_days} days`
})
