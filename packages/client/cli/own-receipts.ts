import { appendFile, mkdir, readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import * as v from 'valibot'
import { ReceiptIdSchema } from '../../../src/domain/receipts/receipt.ts'
import { parseJson } from '../../../src/domain/wire/parse-json.ts'
import { printNote, UsageFault } from './command-line.ts'

/** The caller's own record of a paid call: the directory has neither the secret nor the answer. */
const OwnReceiptSchema = v.object({
  id: ReceiptIdSchema,
  /** Where it was called. */
  directory: v.string(),
  listing: v.string(),
  at: v.string(),
  secret: v.string(),
  /** Salted hash of the answer as it came; absent where it was compressed. */
  answer: v.optional(v.string()),
})
export type OwnReceipt = v.InferOutput<typeof OwnReceiptSchema>

/** Only the owner may read what was bought. */
const MODE = 0o600

/** WAYPOST_RECEIPTS names another file, or `off`. */
export function receiptsFile(): string | null {
  const { WAYPOST_RECEIPTS: named, XDG_STATE_HOME: state } = process.env
  if (named === 'off') return null
  return named || join(state || join(homedir(), '.local', 'state'), 'waypost', 'receipts.jsonl')
}

/** A receipt that cannot be stored does not fail the call: it is paid and answered. */
export async function keepReceipt(receipt: OwnReceipt): Promise<void> {
  const file = receiptsFile()
  if (file === null) return
  try {
    await mkdir(dirname(file), { recursive: true })
    // Lines are appended whole, so that several commands may share a file.
    await appendFile(file, `${JSON.stringify(receipt)}\n`, { mode: MODE })
  } catch (error) {
    printNote(`the receipt was not stored: ${error instanceof Error ? error.message : error}`)
  }
}

/** @throws UsageFault where the file cannot be read; a missing file has no receipts */
export async function readOwnReceipts(file: string): Promise<OwnReceipt[]> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (Object(error).code === 'ENOENT') return ''
    throw new UsageFault(`${file}: ${error instanceof Error ? error.message : error}`)
  })
  return text.split('\n').flatMap((line) => {
    const read = v.safeParse(OwnReceiptSchema, parseJson(line))
    return read.success ? [read.output] : []
  })
}
