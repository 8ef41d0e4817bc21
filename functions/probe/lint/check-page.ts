import type { IncomingMessage } from 'node:http'
import { findUrlFault } from '../../../src/domain/listing/target-url.ts'
import type { CheckAnswer } from '../../../src/domain/probe/lint/check-answer.ts'
import { PROBE_PROTOCOLS } from '../../../src/domain/wire/vocabulary.ts'
import { clientKey } from '../../limits/client-key.ts'
import type { Parts } from '../../parts/parts.ts'
import { createAsker, toUserAgent } from '../ask.ts'
import { lintUrl } from './lint-url.ts'

/** Checks under way at once, over all clients: each may hold a connection for a while. */
const MOST_AT_ONCE = 8

/** What `/sellers/check?url=&as=` shows: the linter's report on an address, for whoever asks. */
export function createCheckPage(
  parts: Pick<Parts, 'config' | 'resolver' | 'limits' | 'clock'>,
): (req: IncomingMessage) => Promise<CheckAnswer> {
  const { config, resolver, limits, clock } = parts
  const allowPrivate = config.UNSAFE_ALLOW_PRIVATE_TARGETS
  let underWay = 0
  return async (req) => {
    const query = new URL(req.url ?? '', 'http://x').searchParams
    const url = query.get('url')?.trim() ?? ''
    const as = PROBE_PROTOCOLS.find((protocol) => protocol === query.get('as'))
    if (url === '') return { kind: 'empty' }
    const fault = findUrlFault(url, { allowPrivate })
    if (fault !== null) return { kind: 'refused', status: 400, reason: `${fault}.` }
    const forwarded = String(req.headers['x-forwarded-for'] ?? '')
    const client = clientKey(req.socket.remoteAddress, forwarded, config.TRUST_PROXY)
    const taken = await limits.take('check', `page ${client}`)
    if (!taken.allowed) {
      const reason = `Too many checks from here; try again in ${taken.headers['Retry-After']} s.`
      return { kind: 'refused', status: 429, reason, headers: taken.headers }
    }
    if (underWay >= MOST_AT_ONCE)
      return {
        kind: 'refused',
        status: 503,
        reason: 'Many addresses are being checked just now; try again in a minute.',
      }
    underWay += 1
    const asker = createAsker({ resolver, allowPrivate, userAgent: toUserAgent(config.BASE_URL) })
    try {
      return { kind: 'report', report: await lintUrl(url, as, asker, () => clock.now()) }
    } finally {
      underWay -= 1
      await asker.close()
    }
  }
}
