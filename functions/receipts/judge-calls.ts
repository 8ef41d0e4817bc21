import { createHash, hash } from 'node:crypto'
import type { DeclaredRow } from '../../src/domain/derived/declared-call.ts'
import { findCanned, readArguments } from '../../src/domain/receipts/canned-answer.ts'
import type { DeliveredAnswer, Judgement } from '../../src/domain/receipts/delivered-answer.ts'
import { isJsonType, judgeDelivery } from '../../src/domain/receipts/judge-delivery.ts'
import { parseJson } from '../../src/domain/wire/parse-json.ts'
import type { Log } from '../ports/log.ts'
import type { NewReceipt } from './log/receipt-log.ts'
import { createRecentAnswers } from './recent-answers.ts'
import { unpackAnswer } from './unpack-answer.ts'

/** A call that has passed, with what was copied of it: in memory until it is judged. */
export interface SeenCall {
  id: string
  secret: Buffer
  listingId: string
  declared: { method: string; url: string; digest: string }
  /** Who pays whom; null where the payment does not say it. */
  payment: string | null
  startedAt: number
  request: { method: string; path: string; body: Buffer[]; isWhole: boolean }
  status: number | null
  contentType: string
  encodings: readonly string[]
  transaction: string | null
  answer: { chunks: Buffer[]; size: number; end: DeliveredAnswer['end'] }
  ms: number
}

export type JudgeCall = (call: SeenCall) => void

interface JudgeParts {
  /** The declarations of the release that is served, by digest. */
  declared: () => Promise<ReadonlyMap<string, DeclaredRow>>
  add: (receipt: NewReceipt) => boolean
  log: Log
}

/** Calls that wait for their judgement: the oldest ones' answers are let go first. */
const MAX_WAITING = 64

/** Judges calls one after the other, each in a turn of its own: one answer is unpacked and parsed at a time. */
export function createJudge({ declared, add, log }: JudgeParts) {
  const waiting: SeenCall[] = []
  const recent = createRecentAnswers()
  let running: Promise<void> | null = null
  const next = async (): Promise<void> => {
    for (let call = waiting.shift(); call !== undefined; call = waiting.shift()) {
      try {
        const row = (await declared()).get(call.declared.digest)
        // The release that declared it is gone: nothing can be said.
        if (row !== undefined) add(toReceipt(call, row, recent))
      } catch (error) {
        // Of what was answered nothing may reach the log, and an error may quote it.
        const name = error instanceof Error ? error.name : 'unknown'
        log.error('receipts.not_judged', { listing: call.listingId, error: name })
      }
      await new Promise((resolve) => setImmediate(resolve))
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
  request.isWhole = false
}

function toReceipt(
  call: SeenCall,
  row: DeclaredRow,
  recent: ReturnType<typeof createRecentAnswers>,
): NewReceipt {
  const { id, secret, payment, request, status, transaction, ms } = call
  const bytes = Buffer.concat(call.answer.chunks)
  const body = Buffer.concat(request.body)
  const delivered = toDelivered(call, bytes)
  const { verdict, reason } = judge(call, row, { delivered, body, recent })
  const line = Buffer.from(`${request.method} ${request.path}\n`, 'latin1')
  const isRead = status !== null && call.answer.end === 'whole'
  const receipt = {
    ...{ id, at: new Date(call.startedAt).toISOString(), listing_id: call.listingId },
    operation: row.digest,
    request: request.isWhole ? salted(secret, line, body) : null,
    answer: isRead ? salted(secret, bytes) : null,
    ...{ status, verdict, reason, transaction, ms },
  }
  return {
    receipt,
    call: `${row.method} ${row.url}`,
    payment: payment === null ? null : hash('sha256', payment),
  }
}

function toDelivered({ status, contentType, encodings, answer }: SeenCall, bytes: Buffer) {
  const head = { status, content_type: contentType }
  if (answer.end !== 'whole') return { ...head, end: answer.end, body: bytes }
  return { ...head, ...unpackAnswer(bytes, encodings) }
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
  let value: unknown
  const judged = judgeDelivery(row.response, delivered, (parsed) => {
    value = parsed
  })
  if (judged.verdict !== 'as_declared' || !isJsonType(row.response.content_type)) return judged
  const args = readArguments(row, request.path, parseJson(body.toString('utf8')))
  const seen = recent.see(row.digest, args, delivered.body)
  const reason = findCanned(row, { args, value, seen })
  return reason === null ? judged : { verdict: 'canned', reason }
}

/** An answer may be large: it is hashed as it lies, without a copy. */
function salted(secret: Buffer, ...parts: Buffer[]): string {
  const sum = createHash('sha256').update(secret)
  for (const part of parts) sum.update(part)
  return sum.digest('hex')
}
