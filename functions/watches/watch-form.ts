import type { IncomingMessage, ServerResponse } from 'node:http'
import * as v from 'valibot'
import { PayoutSchema } from '../../src/domain/listing/caip-account.ts'
import { findUrlFault } from '../../src/domain/listing/target-url.ts'
import { parseSearchParameters } from '../../src/domain/search/search-parameters.ts'
import {
  WATCH_EVENTS,
  type WatchBody,
  WatchBodySchema,
  type WatchPage,
} from '../../src/domain/watches/watch.ts'
import type { Refused } from '../../src/domain/wire/form-page.ts'
import { ID_PREFIXES } from '../../src/domain/wire/vocabulary.ts'
import { countForm, createFormPage, createFormRoute, type Form, refuse } from '../forms/form.ts'
import { isOwnHost } from '../net/own-address.ts'
import { privateTargetsOf } from '../net/purposes.ts'
import type { Parts } from '../parts/parts.ts'
import type { Caller } from '../probe/anonymous-probes.ts'
import { parseEmailAddress } from '../sellers/sessions/email-address.ts'
import type { SellerRoute } from '../sellers/sessions/seller-route.ts'
import type { WatchTable } from '../store/schema/store.ts'
import {
  addWatch,
  askMailbox,
  confirmWatch,
  endWatch,
  findWatch,
  listOwn,
  toWatchView,
} from './watch-store.ts'

type FormParts = Pick<Parts, 'limits' | 'ledger' | 'clock' | 'release' | 'config' | 'log'>
type Sent = WatchPage['sent']
type Taken = Extract<WatchPage['answer'], { kind: 'taken' }>
type Own = Extract<WatchPage['answer'], { kind: 'own' }>

export const ENDED = 'No watch has this link, or it has ended.'

function createWatchForm(parts: FormParts): Form<typeof WatchBodySchema, Sent, Taken> {
  return {
    schema: WatchBodySchema,
    subject: 'Watches',
    labels: { target: 'What', events: 'Tell me when', deliver: 'Where to' },
    toSent,
    toBody: (fields) => {
      const { target, email, webhook, events } = toSent(fields)
      const deliver = { ...(email !== '' && { email }), ...(webhook !== '' && { webhook }) }
      return { target: toTarget(target), events, deliver }
    },
    take: (body, caller) => takeWatch(parts, body, caller),
  }
}

/** A link names a listing or a search; the form has one field for everything watchable. */
function toSent(fields: URLSearchParams): Sent {
  const read = (name: string) => (fields.get(name) ?? '').trim()
  const events = fields.getAll('events')
  return {
    target: read('target') || read('listing') || read('query'),
    ...{ email: read('email'), webhook: read('webhook'), token: read('token') },
    events: events.length > 0 ? events : [...WATCH_EVENTS],
  }
}

/** @example toTarget('weather') → { query: 'q=weather' } */
function toTarget(text: string): WatchBody['target'] {
  if (v.safeParse(PayoutSchema, text).success) return { payee: text }
  if (ID_PREFIXES.some((prefix) => text.startsWith(`${prefix}.`))) return { listing: text }
  return { query: /^\w+=/.test(text) ? text : String(new URLSearchParams({ q: text })) }
}

async function takeWatch(
  parts: FormParts,
  body: WatchBody,
  caller: Caller,
): Promise<Taken | Refused> {
  const { ledger, clock } = parts
  const refused = findFault(parts, body) ?? (await countForm(parts, 'watch', 'watches', caller))
  if (refused !== null) return refused
  if (await ledger.deliveries.isOverfull(body.deliver.email === undefined ? 'webhook' : 'mail'))
    return refuse('rate-limited', 'Too many confirmation requests wait to be sent.', LATER)
  const watch = await ledger.store.db.transaction().execute(async (trx) => {
    const added = await addWatch(trx, body, clock.now())
    if (added?.email === null) await confirmWatch(trx, ledger.deliveries, added)
    else if (added !== null) await askMailbox(trx, ledger.deliveries, added, clock.now())
    return added
  })
  if (watch === null)
    return refuse('rate-limited', 'This directory takes no more watches.', NEXT_DAY)
  ledger.deliveries.deliverSoon()
  const { id, token, secret } = watch
  return {
    kind: 'taken',
    started: {
      ...{ id, state: 'waiting' },
      ...(watch.email === null && { token }),
      ...(secret !== null && { secret }),
    },
  }
}

const LATER = { headers: { 'Retry-After': '300' } }
const NEXT_DAY = { headers: { 'Retry-After': '86400' } }

/** Errors beyond the body's shape. An address is normalised as mail will be sent to it. */
function findFault({ release, config }: FormParts, { target, deliver }: WatchBody): Refused | null {
  const { listings, search } = release()
  const wrong = (field: string, reason: string) => refuse('invalid-parameter', reason, { field })
  if ('listing' in target && !listings.has(target.listing))
    return refuse('listing-not-found', 'No listing has this id.')
  const parsed = 'query' in target ? parseSearchParameters(target.query, search.filters) : null
  if (parsed !== null && 'problems' in parsed) {
    const [first] = parsed.problems
    return wrong('target', `${first?.name}: ${first?.detail}`)
  }
  const { email, webhook } = deliver
  if (email !== undefined) {
    const plain = parseEmailAddress(email)
    if (plain === null || plain === config.MAIL_FROM?.toLowerCase())
      return wrong('deliver', 'expected one plain ASCII address such as ann@shop.example')
    deliver.email = plain
  }
  const fault =
    webhook === undefined
      ? null
      : findUrlFault(webhook, { allowPrivate: privateTargetsOf('hook', config) })
  if (fault !== null) return wrong('deliver', `webhook: ${fault}`)
  return webhook !== undefined && isOwnHost(new URL(webhook), new URL(config.BASE_URL))
    ? wrong('deliver', 'webhook: expected another host than this service')
    : null
}

/** `POST /api/v1/watches`: 202; a mail or a signed challenge asks for confirmation. */
export function createWatchStart(parts: Parts): SellerRoute {
  const form = createWatchForm(parts)
  return createFormRoute(parts, form, ({ started }) => ({ status: 202, body: started }))
}

const ActSchema = v.strictObject({
  token: v.string(),
  id: v.string(),
  act: v.picklist(['confirm', 'end']),
})

/** Confirms or ends one of the watches that a token shows. */
function createActForm(
  parts: FormParts,
): Form<typeof ActSchema, Sent, Own> & { show(token: string): Promise<Own | Refused> } {
  const { ledger } = parts
  const { db } = ledger.store
  const show = async (token: string, said = ''): Promise<Own | Refused> => {
    const watch = await findWatch(db, 'token', token)
    if (watch === undefined) return refuse('token-invalid', said || ENDED)
    return { kind: 'own', watches: (await listOwn(db, watch)).map(toWatchView), said }
  }
  const confirm = async (watch: WatchTable, caller: Caller): Promise<Refused | null> => {
    if (watch.state === 'live') return null
    // This calls the webhook each time: the holder of the token may not be its owner.
    const refused =
      watch.webhook === null ? null : await countForm(parts, 'watch', 'watches', caller)
    if (refused !== null) return refused
    await db.transaction().execute((trx) => confirmWatch(trx, ledger.deliveries, watch))
    ledger.deliveries.deliverSoon()
    return null
  }
  return {
    schema: ActSchema,
    subject: 'Watches',
    toSent,
    toBody: (fields) => Object.fromEntries(fields),
    show,
    take: async ({ token, id, act }, caller) => {
      const known = await findWatch(db, 'token', token)
      const watch = known && (await listOwn(db, known)).find((own) => own.id === id)
      if (watch === undefined) return refuse('token-invalid', ENDED)
      if (act === 'confirm') return (await confirm(watch, caller)) ?? show(token, 'Thank you.')
      await endWatch(db, watch.id)
      return show(token, 'The watch has ended.')
    },
  }
}

/** `/watch?listing=`: the form for people; `/watch?token=`: their watches, with buttons. */
export function createWatchPage(
  parts: FormParts,
): (req: IncomingMessage, res: ServerResponse) => Promise<WatchPage> {
  const acts = createActForm(parts)
  const start = createFormPage(parts, createWatchForm(parts))
  const manage = createFormPage(parts, acts, async (query) => ({
    answer: await acts.show(query.get('token') ?? ''),
    sent: toSent(query),
  }))
  return async (req, res) => {
    const query = new URL(req.url ?? '', 'http://x').searchParams
    if (!query.has('token')) return start(req, res)
    return { answer: (await manage(req, res)).answer, sent: toSent(query) }
  }
}
