import * as v from 'valibot'
import { ParsedTransactionSchema } from './solana-payments.ts'

/** A node of Solana, by JSON-RPC. */
interface Node {
  call<Schema extends v.GenericSchema>(
    method: string,
    params: unknown[],
    schema: Schema,
  ): Promise<v.InferOutput<Schema>>
}

/** A CAIP-2 reference of Solana is the first 32 characters of the genesis hash. */
const REFERENCE_LENGTH = 32

/** The cluster of a node, CAIP-2. */
export async function readCluster(node: Node): Promise<string> {
  const genesis = await node.call('getGenesisHash', [], v.string())
  return `solana:${genesis.slice(0, REFERENCE_LENGTH)}`
}

/** A final transaction with parsed instructions; null where the node has none, or another. */
export async function readTransaction(node: Node, signature: string) {
  const options = {
    encoding: 'jsonParsed',
    commitment: 'finalized',
    maxSupportedTransactionVersion: 0,
  }
  const found = await node.call(
    'getTransaction',
    [signature, options],
    v.nullable(ParsedTransactionSchema),
  )
  return found?.transaction.signatures[0] === signature ? found : null
}

/** Signatures a node lists at once. */
const PAGE = 1_000

const SignaturesSchema = v.array(
  v.object({
    signature: v.pipe(v.string(), v.regex(/^[1-9A-HJ-NP-Za-km-z]{64,90}$/)),
    err: v.unknown(),
    blockTime: v.nullish(v.number()),
  }),
)
export type Signature = v.InferOutput<typeof SignaturesSchema>[number]

/**
 * Transactions of an account, newest first, failures included.
 *
 * @param since milliseconds; transactions without a time are listed as well
 * @param until the signature where an earlier list ended
 * @returns null where the node returns the same page again
 */
export async function listSignatures(
  node: Node,
  account: string,
  { since, until }: { since: number; until?: string },
): Promise<Signature[] | null> {
  const listed: Signature[] = []
  for (let before: { before?: string } = {}; ; ) {
    const options = { limit: PAGE, commitment: 'finalized', ...(until && { until }), ...before }
    const page = await node.call('getSignaturesForAddress', [account, options], SignaturesSchema)
    const fresh = page.filter(
      ({ blockTime }) => typeof blockTime !== 'number' || blockTime * 1000 >= since,
    )
    for (const signature of fresh) listed.push(signature)
    const last = page.at(-1)
    if (page.length < PAGE || fresh.length < page.length || last === undefined) return listed
    if (before.before === last.signature) return null
    before = { before: last.signature }
  }
}
