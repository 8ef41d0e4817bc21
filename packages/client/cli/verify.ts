import { readFile } from 'node:fs/promises'
import * as v from 'valibot'
import {
  ReceiptKeysSchema,
  ReceiptLogViewSchema,
  ReceiptViewSchema,
} from '../../../src/domain/receipts/receipt.ts'
import {
  extendsHead,
  isHeadSigned,
  saltedHash,
  verifyReceipt,
} from '../../../src/domain/receipts/verify-receipt.ts'
import { WaypostError } from '../src/waypost-error.ts'
import { EXIT, type Run, readArguments, readSubject } from './command-line.ts'
import { printJson, toLine } from './printable.ts'

/**
 * `waypost verify <receipt>`: that a receipt is signed, that the log has it, and that the log's newest head
 * extends the one that the receipt is proved by. With `--secret` and `--answer` also whose answer it is.
 */
export const runVerify: Run = async (args, connect) => {
  const { values, positionals } = readArguments(args, {
    secret: { type: 'string' },
    answer: { type: 'string' },
  })
  const { baseUrl } = connect(values.base)
  const id = readSubject(positionals, 'receipt').replace(/^.*\//, '')
  const view = await get(`${baseUrl}/api/v1/receipts/${id}`, ReceiptViewSchema)
  const keys = await get(`${baseUrl}/.well-known/receipt-keys.json`, ReceiptKeysSchema)
  const proof = verifyReceipt(view, keys)
  const from = view.head?.size ?? 0
  const log = await get(`${baseUrl}/api/v1/receipts/log?from=${from}`, ReceiptLogViewSchema)
  const isExtended =
    view.head !== null &&
    log.head !== null &&
    isHeadSigned(log.head, keys) &&
    extendsHead(view.head, log.head, log.consistency ?? [])
  const isAnswer = await findAnswer(values, view.receipt.answer)
  const checks = { ...proof, isExtended, ...(isAnswer !== null && { isAnswer }) }
  const isSound = Object.values(checks).every((check) => check)
  if (values.json === true) printJson({ receipt: view.receipt, checks, ok: isSound })
  else console.log(toText(view.receipt, checks).map(toLine).join('\n'))
  return isSound ? EXIT.ok : EXIT.refused
}

async function findAnswer(
  { secret, answer }: { secret?: string; answer?: string },
  hash: string | null,
): Promise<boolean | null> {
  if (secret === undefined || answer === undefined) return null
  return saltedHash(secret, await readFile(answer)) === hash
}

async function get<Schema extends v.GenericSchema>(url: string, schema: Schema) {
  const response = await fetch(url).catch((cause: unknown) => {
    throw new WaypostError('unreachable', `${url} could not be reached`, { cause })
  })
  if (!response.ok)
    throw new WaypostError(`http-${response.status}`, `${url} answered ${response.status}`)
  return v.parse(schema, await response.json())
}

const SAYS = {
  isSigned: 'signed by a key of the directory',
  isHeadSigned: 'the head of the log is signed',
  isInLog: 'the log has it',
  isExtended: 'the newest head extends that one',
  isAnswer: 'it is of this answer',
} as const

function toText(
  {
    verdict,
    reason,
    at,
    listing_id,
  }: { verdict: string; reason: string; at: string; listing_id: string },
  checks: Partial<Record<keyof typeof SAYS, boolean>>,
): string[] {
  const lines = Object.entries(SAYS).flatMap(([name, text]) => {
    const check = Object.entries(checks).find(([each]) => each === name)?.[1]
    return check === undefined ? [] : [`${check ? 'yes' : 'NO '}  ${text}`]
  })
  return [`${listing_id}, ${at}: ${verdict}. ${reason}`, ...lines]
}
