import { jsonAnswer } from '../http/problem.ts'
import { clientOf } from '../limits/client-key.ts'
import { refusalOf } from '../limits/rate-limits.ts'
import type { Parts } from '../parts/parts.ts'
import { createSellerRoute, type SellerRoute } from '../sellers/sessions/seller-route.ts'
import type { WatchTable } from '../store/schema/store.ts'
import { ENDED } from './watch-form.ts'
import { endWatch, findWatch, listOwn, toWatchView } from './watch-store.ts'

/** `GET /api/v1/watches/:token`: the watches of its holder. DELETE, and one-click POST (RFC 8058), end its own. */
export function createWatchRoutes(parts: Parts): { watches: SellerRoute; watch_end: SellerRoute } {
  const { db } = parts.ledger.store
  const withWatch = (answer: (watch: WatchTable) => Promise<Response>) =>
    createSellerRoute(parts, async (event) => {
      const taken = await parts.limits.take('search', clientOf(event.req, parts.config))
      const refusal = refusalOf(taken, parts.problem)
      if (refusal !== null) return refusal
      const watch = await findWatch(db, 'token', event.context.params?.token ?? '')
      if (watch === undefined) return parts.problem('token-invalid', { detail: ENDED })
      return answer(watch)
    })
  return {
    watches: withWatch(async (watch) =>
      jsonAnswer({ watches: (await listOwn(db, watch)).map(toWatchView) }),
    ),
    watch_end: withWatch(async ({ id }) => {
      await endWatch(db, id)
      return new Response(null, { status: 204, headers: { 'Cache-Control': 'no-store' } })
    }),
  }
}
