import type { IncomingMessage, ServerResponse } from 'node:http'
import type { H3Event, HTTPResponse } from 'h3'
import type { Kysely } from 'kysely'
import type { LiveListing } from '../../src/domain/listing/listing-states.ts'
import type { LiveProtocolId, ROUTES, RouteId } from '../../src/domain/wire/routes.ts'
import type { ClickSource } from '../../src/domain/wire/vocabulary.ts'
import type { MakeProblem } from '../http/answers.ts'
import type { SignRequest } from '../net/http-client.ts'
import type { Resolver } from '../net/resolver.ts'
import type { Clock } from '../ports/clock.ts'
import type { Config } from '../ports/config.ts'
import type { Log } from '../ports/log.ts'
import type { Page } from '../release/on-demand-pages.ts'
import type { Release } from '../release/release.ts'
import type { RateLimits } from '../server/rate-limits.ts'
import type { Click, Store, Tables } from '../store/store.ts'

/**
 * A capability of the service as a value: what it answers, does and sends. `service/features.ts` lists each feature
 * once; `functions/README.md` describes what else the folders in `functions` share with each other.
 */
export interface Feature {
  /** Handlers by route id, as in the domain's tables of routes and protocols. */
  routes?: Partial<Routes>
  /** Pages rendered for each request, by address. */
  pages?: Readonly<Record<string, Page>>
  /** Handlers that work on Node's own request and response. */
  paths?: readonly RawPath[]
  chores?: readonly Chore[]
  /** Functions that write an email's text, by kind of email. */
  letters?: Readonly<Record<string, WriteLetter>>
  /** Finishes or stops work of this feature that is still running in memory. */
  close?(): Promise<void>
}

export type Handler = (event: H3Event) => Response | HTTPResponse | Promise<Response | HTTPResponse>

/** A handler for each address that a function answers, except the relay and the searches, which have raw paths. */
export type Routes = Record<
  Exclude<LiveRouteId, 'call' | 'search' | 'operations'> | LiveProtocolId,
  Handler
>

export interface RawPath {
  /** A path that ends with `/` covers every path below it. */
  path: string
  /** Bytes are passed on unchanged: no header of ours is added, and the connection has no timeout of ours. */
  isBare?: true
  /** Answers GET and HEAD, or every method if `isBare`. */
  answer(req: IncomingMessage, res: ServerResponse, query: string): Promise<void>
}

/** Work that a running server does on its own; safe on several servers at once. */
export interface Chore {
  name: string
  /** Chores with the same interval run one after another, in list order. */
  everyMs: number
  run(signal: AbortSignal): Promise<void>
}

/** A waiting email without its secrets, which are made when it is sent: no table may hold a secret. */
export type MailTask = { kind: string } & Readonly<Record<string, unknown>>

/** Text of one email, without greeting and signature. */
export interface Letter {
  subject: string
  body: string
  /** The link in a sign-in email: shown on the terminal if no SMTP server is configured. */
  link?: string
}

/** @returns null if this version does not know the task */
export type WriteLetter = (address: string, task: MailTask) => Promise<Letter | null>

/** What every feature is made from. Tests pass in their own clock, log and release. */
export interface Parts {
  config: Config
  problem: MakeProblem
  clock: Clock
  log: Log
  resolver: Resolver
  /** Signs requests to sellers, but never a relayed call. */
  sign?: SignRequest
  limits: RateLimits
  ledger: Ledger
  /** The current release; call it for each request, because a new build replaces the release. */
  release: () => Release
  /** When the release being served was published, in milliseconds since the epoch. */
  publishedAt: () => number
}

export interface Ledger {
  store: Store
  clicks: ClickWriter
  usage: Usage
  mails: MailQueue
  hints: Hints
  /** Writes what is still in memory, then closes the store. */
  close(): Promise<void>
}

export interface ClickWriter {
  /** Resolves when the click is durable, or when waiting longer would not help. Never rejects. */
  write(click: Click): Promise<void>
  tally(): ClickTally
}

export interface ClickTally {
  written: number
  /** How many redirected clicks are missing from the store. */
  lost: number
  waiting: number
}

/** Counts of frequent events whose loss does little harm. */
export interface Usage {
  /** Counts these listings as shown. Synchronous and cheap; searches don't wait for it. */
  searched(listingIds: readonly string[], src: ClickSource | null, times?: number): void
  called(listingId: string): void
  /** Calls `report` before counts are written, for parts that keep their own counts. */
  beforeFlush(report: () => void): void
  flush(): Promise<void>
}

export interface MailQueue {
  /** Queues an email in the caller's transaction: the email exists if and only if the transaction commits. */
  add(trx: Kysely<Tables>, address: string, task: MailTask): Promise<void>
  /** True if so many sign-in emails are waiting that one more would not be sent in time. */
  isFull(): Promise<boolean>
  /** Sends the emails that are due, including those added meanwhile. */
  send(): Promise<void>
  /** Sends like `send`, for callers that don't wait: failures to read the store are logged. */
  sendSoon(): void
}

/** Notes that a relayed call named a payment, so that the meter reads the chain soon. A hint proves nothing. */
export interface Hints {
  /** Notes the transaction that an answer names. Returns at once. @param client the caller */
  note(listing: Pick<LiveListing, 'id' | 'payout'>, client: string, transaction: string): void
}

/** Routes answered by a function; the app must hold a handler for each. */
type LiveRouteId = {
  [Id in RouteId]: (typeof ROUTES)[Id]['answer'] extends 'live' ? Id : never
}[RouteId]
