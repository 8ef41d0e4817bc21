import { hash } from 'node:crypto'
import type { DeclaredRow } from '../../src/domain/derived/declared-call.ts'
import { findCanned, readArguments } from '../../src/domain/receipts/canned-answer.ts'
import type { DeliveredAnswer, Judgement } from '../../src/domain/receipts/delivered-answer.ts'
import { isJsonType, judgeDelivery } from '../../src/domain/receipts/judge-delivery.ts'
import type { PaymentMarks } from '../../src/domain/receipts/payment-mark.ts'
import { parseJson } from '../../src/domain/wire/parse-json.ts'
import type { Log } from '../ports/log.ts'
import type { NewReceipt } from './log/receipt-pages.ts'
import { createRecentAnswers } from './recent-answers.ts'
import { saltedHash } from './salted-hash.ts'
import { unpackAnswer } from './unpack-answer.ts'

/** A finished call, with the copy of its answer: in memory until it is judged. */
export interface SeenCall {
  id: string
  secret: Buffer
  listingId: string
  declared: { method: string; url: string; digest: string }
  /** Null where the payment does not name payer and payee. */
  marks: PaymentMarks | null
  startedAt: number
  request: { method: string; path: string; body: Buffer[]; isComplete: boolean }
  status: number | null
  contentType: string
  encodings: readonly string[]
  /** The request's `Accept-Encoding`. */
  accepted: string | undefined
  transaction: string | null
  answer: { chunks: Buffer[]; size: number; end: DeliveredAnswer['end'] }
  ms: number
}

export type JudgeCall = (call: SeenCall) => void

interface JudgeParts {
  /** The declarations of the current release, by digest. */
  declared: () => Promise<ReadonlyMap<string, DeclaredRow>>
  add: (receipt: NewReceipt) => boolean
  log: Log
}

/** Calls waiting to be judged: the answers of the oldest are dropped first. */
const MAX_WAITING = 64

/** Answers judged in one turn: a large one, or short ones of the same total (bytes). */
const TURN_BYTES = 64 * 1024
/** What a call counts in addition to its answer (bytes). */
const CALL_BYTES = 2 * 1024

/** Judges calls one by one in turns of their own, so that answers in transit need not wait. */
export function createJudge({ declared, add, log }: JudgeParts) {
  const waiting: SeenCall[] = []
  const recent = createRecentAnswers()
  let running: Promise<void> | null = null
  const judgeOne = (call: SeenCall, rows: ReadonlyMap<string, DeclaredRow> | null) => {
    try {
      if (rows === null) throw new Error('The declarations could not be read.')
      const row = rows.get(call.declared.digest)
      // The release that declared it is gone: it cannot be judged.
      if (row !== undefined) add(toReceipt(call, row, recent))
    } catch (error) {
      // No part of an answer may reach the log, and an error may quote one.
      const name = error instanceof Error ? error.name : 'unknown'
      log.error('receipts.not_judged', { listing: call.listingId, error: name })
    }
  }
  const next = async (): Promise<void> => {
    while (waiting.length > 0) {
      await new Promise((resolve) => setImmediate(resolve))
      const rows = await declared().catch(() => null)
      for (let left = TURN_BYTES; left > 0; ) {
        const call = waiting.shift()
        if (call === undefined) break
        left -= call.answer.size + CALL_BYTES
        judgeOne(call, rows)
      }
    }
    running = null
  }
  return {
    judge(call: SeenCall): void {
      waiting.push(call)
      const over = waiting[waiting.length - MAX_WAITING - 1]
      if (over !== undefined) letGo(over)
      running ??= next()
    },
    idle: async () => void (await running),
  }
}

function letGo({ answer, request }: SeenCall): void {
  answer.chunks = []
  answer.end = 'unread'
  request.body = []
  request.isComplete = false
}

function toReceipt(
  call: SeenCall,
  row: DeclaredRow,
  recent: ReturnType<typeof createRecentAnswers>,
): NewReceipt {
  const { id, secret, marks, request, status, transaction, ms } = call
  const bytes = Buffer.concat(call.answer.chunks)
  const body = Buffer.concat(request.body)
  const delivered = toDelivered(call, bytes)
  const { verdict, reason } = judge(call, row, { delivered, body, recent })
  const line = Buffer.from(`${request.method} ${request.path}\n`, 'latin1')
  const isRead = status !== null && call.answer.end === 'whole'
  // In the order of canonical JSON, so that it is written as it is.
  const receipt = {
    answer: isRead ? saltedHash(secret, [bytes]) : null,
    at: new Date(call.startedAt).toISOString(),
    ...{ id, listing_id: call.listingId, ms, operation: row.digest, reason },
    request: request.isComplete ? saltedHash(secret, [line, body]) : null,
    ...{ status, transaction, verdict },
  }
  return {
    receipt,
    call: `${row.method} ${row.url}`,
    payment: hashOf(marks?.payment),
    authorization: hashOf(marks?.authorization),
  }
}

function toDelivered(
  { status, contentType, encodings, accepted, answer }: SeenCall,
  bytes: Buffer,
) {
  const head = { status, content_type: contentType }
  if (answer.end !== 'whole') return { ...head, end: answer.end, body: bytes }
  return { ...head, ...unpackAnswer(bytes, encodings, accepted) }
}

function judge(
  { request }: SeenCall,
  row: DeclaredRow,
  {
    delivered,
    body,
    recent,
  }: { delivered: DeliveredAnswer; body: Buffer; recent: ReturnType<typeof createRecentAnswers> },
): Judgement {
  let heard: { value: unknown; isComplete: boolean } = { value: undefined, isComplete: false }
  const judged = judgeDelivery(row.response, delivered, (value, isComplete) => {
    heard = { value, isComplete }
  })
  if (judged.verdict !== 'as_declared' || !isJsonType(row.response.content_type)) return judged
  const sent = body.length === 0 ? undefined : parseJson(body.toString('utf8'))
  const args = readArguments(row, request.path, sent)
  if (args.size === 0) return judged
  const seen = recent.see(row.digest, args, delivered.body)
  const reason = findCanned(row, { args, ...heard, seen })
  return reason === null ? judged : { verdict: 'canned', reason }
}

function hashOf(mark: string | null | undefined): string | null {
  return mark === null || mark === undefined ? null : hash('sha256', mark)
}
