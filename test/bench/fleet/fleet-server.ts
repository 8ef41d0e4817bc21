import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createResolver } from '../../../functions/net/resolver.ts'
import { systemClock } from '../../../functions/ports/clock.ts'
import { parseConfig } from '../../../functions/ports/config.ts'
import { probeAsChore } from '../../../functions/probes/probe-chore.ts'
import { openStore } from '../../../functions/store/open-store.ts'
import type { ProbePlan } from '../../../src/domain/probe/plan.ts'
import { silentLog } from '../../support/stores.ts'

/** One server of the fleet: the chore alone, turn after turn, until it is killed. */
const [file = '', addresses = '1'] = process.argv.slice(2)
// Written by the study from this very type.
const plans: ProbePlan[] = JSON.parse(readFileSync(file, 'utf8'))
const config = parseConfig({ ...process.env, UNSAFE_ALLOW_PRIVATE_TARGETS: 'true' })
const store = await openStore(config, silentLog)
const addressOf = (host: string) =>
  `127.0.0.${1 + (Number(/\d+/.exec(host)?.[0] ?? 0) % Number(addresses))}`
const parts = {
  config,
  resolver: {
    ...createResolver(undefined),
    addresses: async (host: string) => [{ address: addressOf(host), family: 4 as const }],
  },
  clock: systemClock,
  log: silentLog,
  ledger: { store },
  plans: async () => plans,
  // A server of the study is dead sooner than one of the world.
  holdMs: 10_000,
}
for (;;) {
  await probeAsChore(parts, new AbortController().signal)
  await sleep(500)
}
