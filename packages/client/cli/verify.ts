import { readFile } from 'node:fs/promises'
import {
  dayOf,
  hashOfReceipt,
  isDaySigned,
  isReceiptSigned,
  type Receipt,
  ReceiptDaysSchema,
  type ReceiptKeys,
  ReceiptKeysSchema,
  ReceiptViewSchema,
  saltedHash,
} from '../../../src/domain/relay/receipt.ts'
import {
  EXIT,
  print,
  printJson,
  type Run,
  readArguments,
  readSubject,
  toLine,
} from './command-line.ts'
import { getJson, getText } from './get-json.ts'

/**
 * `waypost verify <receipt>`: checks that a receipt is signed, and that the file of its day has it.
 * With `--secret` and `--answer` also whose answer it is.
 */
export const runVerify: Run = async (args, connect) => {
  const { values, positionals } = readArguments(args, {
    secret: { type: 'string' },
    answer: { type: 'string' },
  })
  const { baseUrl } = connect(values.base)
  const id = readSubject(positionals, 'receipt').replace(/^.*\//, '')
  const keys = await getJson(`${baseUrl}/.well-known/receipt-keys.json`, ReceiptKeysSchema)
  const view = await getJson(`${baseUrl}/api/v1/receipts/${id}`, ReceiptViewSchema)
  const { receipt } = view
  const ofDay = await checkDay(baseUrl, receipt, keys)
  const isAnswer = await findAnswer(values, receipt.answer)
  const checks = {
    // Otherwise one valid receipt would pass for every other.
    isRequested: receipt.id === id,
    isSigned: isReceiptSigned(view, keys),
    ...ofDay,
    ...(isAnswer !== null && { isAnswer }),
  }
  const isSound = Object.values(checks).every((check) => check)
  const day = ofDay === null ? 'not_yet' : 'published'
  if (values.json === true) printJson({ receipt, day, checks, ok: isSound })
  else print([toReceiptText(receipt), ...toLines(checks, dayOf(receipt))].map(toLine))
  return isSound ? EXIT.ok : EXIT.refused
}

/** @returns null where the day of a receipt is not published yet */
async function checkDay(baseUrl: string, receipt: Receipt, keys: ReceiptKeys) {
  const { days } = await getJson(`${baseUrl}/api/v1/receipts/days.json`, ReceiptDaysSchema)
  const wanted = dayOf(receipt)
  const found = days.find(({ day }) => day === wanted)
  // Days are published in their order: one that later ones have overtaken never comes.
  if (found === undefined)
    return days.some(({ day }) => day > wanted) ? { isDaySigned: false, isInDay: false } : null
  const file = await getText(`${baseUrl}/api/v1/receipts/${wanted}.txt`)
  return {
    isDaySigned: isDaySigned(found, file, keys),
    isInDay: file.split('\n').includes(hashOfReceipt(receipt)),
  }
}

async function findAnswer(
  { secret, answer }: { secret?: string; answer?: string },
  hash: string | null,
): Promise<boolean | null> {
  if (secret === undefined || answer === undefined) return null
  return saltedHash(secret, await readFile(answer)) === hash
}

const SAYS = {
  isRequested: 'it is the one that was asked for',
  isSigned: 'signed by a key of the directory',
  isDaySigned: 'the file of its day is signed',
  isInDay: 'the file of its day has it',
  isAnswer: 'it is of this answer',
} as const

function toReceiptText({ verdict, reason, at, listing_id }: Receipt): string {
  return `${listing_id}, ${at}: ${verdict}. ${reason}`
}

function toLines(checks: Partial<Record<keyof typeof SAYS, boolean>>, day: string): string[] {
  const lines = Object.entries(SAYS).flatMap(([name, text]) => {
    const check = Object.entries(checks).find(([each]) => each === name)?.[1]
    return check === undefined ? [] : [`${check ? 'yes' : 'NO'}: ${text}`]
  })
  return checks.isInDay === undefined
    ? [...lines, `not yet: ${day} is not published: a build does that when the day is over`]
    : lines
}
