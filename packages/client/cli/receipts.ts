import type { Receipt } from '../../../src/domain/receipts/receipt.ts'
import { WaypostError } from '../src/waypost-error.ts'
import {
  EXIT,
  print,
  printJson,
  type Run,
  readArguments,
  toLine,
  UsageFault,
} from './command-line.ts'
import type { LogCopy } from './log-copy.ts'
import { growLogCopy, isSound, readLogCopy, writeLogCopy } from './log-copy.ts'
import { type OwnReceipt, readOwnReceipts, receiptsFile } from './own-receipts.ts'
import { checkReceipt, getKeys, toReceiptText } from './verify.ts'

/** The result for one receipt. `unproved`: no head covers it yet; one comes every minute. */
type Standing = 'proved' | 'unproved' | 'missing' | 'false'
interface Checked extends OwnReceipt {
  standing: Standing
  receipt?: Receipt
}

/**
 * `waypost receipts`: what each of your paid calls returned, by the directory's log. `--log COPY`
 * keeps a full copy of the log and checks them against it; `--offline` uses no network.
 */
export const runReceipts: Run = async (args, connect) => {
  const { values, positionals } = readArguments(args, {
    file: { type: 'string' },
    log: { type: 'string' },
    offline: { type: 'boolean' },
  })
  if (positionals.length > 0)
    throw new UsageFault(`expected no more words, got ${JSON.stringify(positionals[0])}`)
  if (values.offline === true && values.log === undefined)
    throw new UsageFault('--offline needs --log COPY: the log to hold the receipts against')
  const { baseUrl } = connect(values.base)
  const file = values.file ?? receiptsFile()
  const all = file === null ? [] : await readOwnReceipts(file)
  const own = all.filter(({ directory }) => directory === baseUrl)
  const copy =
    values.log === undefined ? null : await takeCopy(baseUrl, values.log, values.offline === true)
  const checked = copy === null ? await askEach(baseUrl, own) : own.map((one) => findIn(copy, one))
  const head = copy?.head ?? null
  if (values.json === true) printJson({ receipts: checked, log: head })
  else print(toLines(checked, head).map(toLine))
  return checked.some(({ standing }) => standing === 'missing' || standing === 'false')
    ? EXIT.refused
    : EXIT.ok
}

async function takeCopy(baseUrl: string, file: string, isOffline: boolean): Promise<LogCopy> {
  const copy = await readLogCopy(file)
  if (isOffline) {
    if (copy === null)
      throw new UsageFault(`--log ${file}: expected a copy of the log, found nothing`)
    if (!isSound(copy))
      throw new WaypostError('log-forked', `${file}: its head does not match its receipts`)
    return copy
  }
  const grown = await growLogCopy(baseUrl, copy)
  await writeLogCopy(file, grown)
  return grown
}

function findIn({ receipts, head }: LogCopy, own: OwnReceipt): Checked {
  const receipt = receipts.find(({ id }) => id === own.id)
  // A call made after the head was signed cannot be covered by it.
  if (receipt === undefined) return { ...own, standing: own.at > head.at ? 'unproved' : 'missing' }
  return { ...own, receipt, standing: isOwn(own, receipt) ? 'proved' : 'false' }
}

async function askEach(baseUrl: string, own: readonly OwnReceipt[]): Promise<Checked[]> {
  if (own.length === 0) return []
  const keys = await getKeys(baseUrl)
  const checked: Checked[] = []
  for (const one of own) {
    const found = await checkReceipt(baseUrl, one.id, keys).catch((error: unknown) => {
      if (error instanceof WaypostError && error.code === 'http-404') return null
      throw error
    })
    checked.push(found === null ? { ...one, standing: 'missing' } : toChecked(one, found))
  }
  return checked
}

function toChecked(own: OwnReceipt, found: Awaited<ReturnType<typeof checkReceipt>>): Checked {
  const { receipt, head, proof } = found
  const { isAsked, isSigned, isHeadSigned, isInLog, isExtended } = proof
  const isTrue = isAsked && isSigned && isOwn(own, receipt)
  if (!isTrue) return { ...own, receipt, standing: 'false' }
  if (head === null) return { ...own, receipt, standing: 'unproved' }
  // A named head that does not prove it belongs to another log.
  const isProved = isHeadSigned && isInLog && isExtended
  return { ...own, receipt, standing: isProved ? 'proved' : 'false' }
}

/** Of this call, and of the answer that came. */
function isOwn(own: OwnReceipt, { listing_id, answer }: Receipt): boolean {
  return listing_id === own.listing && (own.answer === undefined || answer === own.answer)
}

const SAYS: Record<Standing, string> = {
  proved: 'proved     ',
  unproved: 'not yet    ',
  missing: 'NOT IN LOG ',
  false: 'FALSE      ',
}

function toLines(checked: readonly Checked[], head: LogCopy['head'] | null): string[] {
  const rows = checked.map((each) => {
    const { standing, receipt, listing, at, id } = each
    return `${SAYS[standing]}${id}  ${receipt === undefined ? `${listing}, ${at}` : toReceiptText(receipt)}`
  })
  const copied = head === null ? [] : [`the log has ${head.size} receipts, signed ${head.at}`]
  return [...rows, ...copied, `${checked.length} receipts of yours`]
}
