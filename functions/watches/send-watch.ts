import type { Kysely } from 'kysely'
import { describeChange, type WatchNews } from '../../src/domain/watches/watch.ts'
import { pagePath } from '../../src/domain/wire/links.ts'
import type { Addressed, Delivery, WatchTask } from '../deliveries/delivery-task.ts'
import { createHttpClient } from '../net/http-client.ts'
import { isOwnHost } from '../net/own-address.ts'
import type { Parts } from '../parts/parts.ts'
import { DeliveryRefused, type Letter } from '../ports/mailer.ts'
import type { Store, Tables, WatchTable } from '../store/schema/store.ts'
import { findWatch, setState, signWebhook, startWatch, targetOf } from './watch-store.ts'

const GONE = [404, 410]
/** About six minutes of failures: a deployment may answer 404 for a while. */
const GONE_TRIES = 5

/** Sends webhooks through the guard of relay and probes: no redirect is followed. */
export function createWebhookSender({
  store,
  clock,
  resolver,
  config,
}: Pick<Parts, 'clock' | 'resolver' | 'config'> & { store: Store }) {
  const { BASE_URL: baseUrl } = config
  const client = createHttpClient('hook', { config, resolver })
  const post = async ({ id, address: url, attempts }: Delivery, secret: string, body: string) => {
    if (isOwnHost(new URL(url), new URL(baseUrl))) throw new DeliveryRefused('it is this service')
    const at = Math.floor(clock.now() / 1000)
    const headers = {
      'content-type': 'application/json',
      ...signWebhook(secret, { id, at, body }),
    }
    const reply = await client.fetch({ method: 'POST', url, headers, body })
    if (!reply.answered) throw new WebhookError(reply.failure)
    const { status } = reply.answer
    if (GONE.includes(status) && attempts + 1 >= GONE_TRIES)
      throw new DeliveryRefused(`the webhook answered ${status} at the ${GONE_TRIES}th try`)
    if (status < 200 || status > 299) throw new WebhookError(`http_${status}`)
    return reply.answer.body
  }
  return {
    async send(delivery: Delivery): Promise<void> {
      const { id, task, createdAt } = delivery
      const watch = 'watch_id' in task ? await findWatch(store.db, 'id', task.watch_id) : undefined
      if (watch === undefined || watch.secret === null || !isDue(watch, task)) return
      const timestamp = new Date(createdAt).toISOString()
      if (task.kind === 'watch_news') {
        const body = JSON.stringify(toNews(watch, task, timestamp, baseUrl))
        await post(delivery, watch.secret, body)
      } else {
        const data = { challenge: id }
        const body = JSON.stringify({ type: 'watch.challenge', timestamp, data })
        const said = await post(delivery, watch.secret, body)
        if (!said.includes(id)) throw new WebhookError('challenge_not_answered')
        await startWatch(store.db, watch)
      }
    },
    close: () => client.close(),
  }
}

class WebhookError extends Error {
  override name = 'WebhookError'
  code: string
  constructor(code: string) {
    super(`the webhook did not accept it (${code})`)
    this.code = code
  }
}

/** News goes to a live watch, a confirmation request to one that waits for it. */
function isDue({ state }: WatchTable, { kind }: { kind: string }): boolean {
  if (kind === 'watch_news') return state === 'live'
  return kind === 'watch_paused' ? state === 'paused' : state === 'waiting'
}

function toNews(
  watch: WatchTable,
  { changes, more }: Extract<WatchTask, { kind: 'watch_news' }>,
  timestamp: string,
  baseUrl: string,
): WatchNews {
  const told = changes.map((change) => ({ ...change, page: baseUrl + pagePath(change.id) }))
  const data = { watch: { id: watch.id, target: targetOf(watch) }, changes: told, more }
  return { type: 'watch.news', timestamp, data }
}

/** Pauses a watch whose delivery failed. @returns the mail about it, if its mailbox accepts it */
export async function pauseWatch(
  trx: Kysely<Tables>,
  { address, task }: Delivery,
  reason: string,
): Promise<Addressed[]> {
  if (task.kind !== 'watch_news' && task.kind !== 'watch_challenge') return []
  const { watch_id } = task
  const watch = await findWatch(trx, 'id', watch_id)
  if (watch === undefined || watch.state === 'paused') return []
  await setState(trx, watch_id, 'paused', reason)
  if (watch.email === null || watch.email === address) return []
  return [{ address: watch.email, task: { kind: 'watch_paused', watch_id, reason } }]
}

/** The mails of watches. None quotes what a stranger typed before its reader has confirmed it. */
export function createWatchMails(
  { db }: Store,
  { baseUrl, name }: { baseUrl: string; name: () => string },
) {
  return async (task: WatchTask): Promise<Letter | null> => {
    const watch = await findWatch(db, 'id', task.watch_id)
    if (watch === undefined || !isDue(watch, task)) return null
    const link = `${baseUrl}/watch?token=${watch.token}`
    const unsubscribe = `${baseUrl}/api/v1/watches/${watch.token}`
    return { ...describe(task, link, baseUrl, name()), unsubscribe }
  }
}

function describe(task: WatchTask, link: string, baseUrl: string, name: string): Letter {
  const manage = `See or end your watches: ${link}`
  switch (task.kind) {
    case 'watch_news': {
      const [first] = task.changes
      const others = task.changes.length + task.more - 1
      const parts = task.changes.map((change) =>
        [change.id, ...describeChange(change), baseUrl + pagePath(change.id)]
          .join('\n  ')
          // In plain ASCII a mail's links stay whole in its source.
          .replaceAll('→', '->'),
      )
      const more = task.more === 0 ? [] : [`And ${task.more} more: ${baseUrl}/api/v1/changes`]
      return {
        subject: `${first?.id ?? 'A listing'} ${first?.change ?? 'changed'}${others > 0 ? `, and ${others} more` : ''}`,
        body: `this is new in ${name}:\n\n${[...parts, ...more].join('\n\n')}\n\n${manage}`,
      }
    }
    case 'watch_paused':
      return {
        subject: 'We stopped calling your webhook',
        body: `we stopped calling your webhook: ${task.reason}.\n\nOpen this link to start it again, or to end the watch:\n\n${link}`,
      }
    default:
      return {
        subject: `Confirm that ${name} may write to you`,
        body: `someone asked ${name} to tell this address when a listing changes, probably you.\nOpen this link to see what it is, and press the button there:\n\n${link}\n\nIf this was not you, ignore this mail. Nothing more will come.`,
      }
  }
}
