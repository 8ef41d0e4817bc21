import { readFile } from 'node:fs/promises'
import {
  type Receipt,
  type ReceiptKeys,
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
import {
  EXIT,
  print,
  printJson,
  type Run,
  readArguments,
  readSubject,
  toLine,
} from './command-line.ts'
import { getJson } from './get-json.ts'

/**
 * `waypost verify <receipt>`: checks that a receipt is signed, that the log has it, and that the
 * newest head extends the one that proves it. With `--secret` and `--answer` also whose answer it
 * is.
 */
export const runVerify: Run = async (args, connect) => {
  const { values, positionals } = readArguments(args, {
    secret: { type: 'string' },
    answer: { type: 'string' },
  })
  const { baseUrl } = connect(values.base)
  const id = readSubject(positionals, 'receipt').replace(/^.*\//, '')
  const { receipt, proof } = await checkReceipt(baseUrl, id, await getKeys(baseUrl))
  const isAnswer = await findAnswer(values, receipt.answer)
  const checks = { ...proof, ...(isAnswer !== null && { isAnswer }) }
  const isSound = Object.values(checks).every((check) => check)
  if (values.json === true) printJson({ receipt, checks, ok: isSound })
  else print([toReceiptText(receipt), ...toLines(checks)].map(toLine))
  return isSound ? EXIT.ok : EXIT.refused
}

export function getKeys(baseUrl: string): Promise<ReceiptKeys> {
  return getJson(`${baseUrl}/.well-known/receipt-keys.json`, ReceiptKeysSchema)
}

/** A receipt of the directory, and what of it is proved. @throws WaypostError where it has none */
export async function checkReceipt(baseUrl: string, id: string, keys: ReceiptKeys) {
  const view = await getJson(`${baseUrl}/api/v1/receipts/${id}`, ReceiptViewSchema)
  const from = view.head?.size ?? 0
  const log = await getJson(`${baseUrl}/api/v1/receipts/log?from=${from}`, ReceiptLogViewSchema)
  const isExtended =
    view.head !== null &&
    log.head !== null &&
    isHeadSigned(log.head, keys) &&
    extendsHead(view.head, log.head, log.consistency ?? [])
  // Otherwise one valid receipt would pass for every other.
  const isAsked = view.receipt.id === id
  const proof = { isAsked, ...verifyReceipt(view, keys), isExtended }
  return { receipt: view.receipt, head: view.head, proof }
}

async function findAnswer(
  { secret, answer }: { secret?: string; answer?: string },
  hash: string | null,
): Promise<boolean | null> {
  if (secret === undefined || answer === undefined) return null
  return saltedHash(secret, await readFile(answer)) === hash
}

const SAYS = {
  isAsked: 'it is the one that was asked for',
  isSigned: 'signed by a key of the directory',
  isHeadSigned: 'the head of the log is signed',
  isInLog: 'the log has it',
  isExtended: 'the newest head extends that one',
  isAnswer: 'it is of this answer',
} as const

export function toReceiptText({ verdict, reason, at, listing_id }: Receipt): string {
  return `${listing_id}, ${at}: ${verdict}. ${reason}`
}

function toLines(checks: Partial<Record<keyof typeof SAYS, boolean>>): string[] {
  return Object.entries(SAYS).flatMap(([name, text]) => {
    const check = Object.entries(checks).find(([each]) => each === name)?.[1]
    return check === undefined ? [] : [`${check ? 'yes' : 'NO '}  ${text}`]
  })
}
