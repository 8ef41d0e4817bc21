import * as v from 'valibot'
import { parseConfig } from '../../functions/ports/config.ts'
import { createLog } from '../../functions/ports/log.ts'
import { type JsonRpc, RpcError } from '../../functions/settlements/json-rpc.ts'
import { readVerifiedSettlements } from '../../functions/settlements/read-verified-settlements.ts'
import { createSettlements } from '../../functions/settlements/settlements.ts'
import type { Store } from '../../functions/store/schema/store.ts'
import { toOwnEvidence } from '../../src/domain/trust/measured-settlements.ts'
import { aListing } from '../call/relay-world.ts'
import {
  BLOCK_HASH,
  encode,
  hexQuantity,
  NETWORK,
  NOON,
  PAYMENT_V2,
  PAYOUT,
  rawReceipt,
  SETTLED,
} from './samples.ts'

export const REQUEST = ['PAYMENT-SIGNATURE', encode(PAYMENT_V2)]
export const RESPONSE = ['PAYMENT-RESPONSE', encode(SETTLED)]
export const LISTING = aListing('https://api.example/', {
  payout: [`${NETWORK}:${PAYOUT.toUpperCase().replace('0X', '0x')}`],
})

/** A node that answers from a table; the test changes the table. */
export function aNode() {
  const answers: Record<string, unknown> = {
    eth_chainId: '0x14a34',
    eth_getTransactionReceipt: rawReceipt(),
    eth_blockNumber: '0x200',
    eth_getBlockByNumber: { hash: BLOCK_HASH, timestamp: hexQuantity(NOON / 1000) },
    eth_getLogs: [],
  }
  const asked: string[] = []
  let isDown = false
  const rpc: JsonRpc = {
    async call(method, [first], schema) {
      asked.push(method)
      if (isDown) throw new RpcError('down')
      const answer = answers[method]
      // The block that was asked for, and logs of that one block.
      if (method === 'eth_getBlockByNumber' && answer !== null)
        return v.parse(schema, { number: first, ...Object(answer) })
      if (method === 'eth_getLogs' && Array.isArray(answer))
        return v.parse(
          schema,
          answer.map((log) => ({ blockHash: BLOCK_HASH, ...log })),
        )
      return v.parse(schema, answer)
    },
  }
  return {
    rpc,
    asked,
    answers,
    down: (value: boolean) => {
      isDown = value
    },
  }
}

/** Settlements over a store, with a clock that the test moves. */
export function open(store: Store, node: ReturnType<typeof aNode>, unsafe = true) {
  let now = NOON
  const logged: string[] = []
  const settlements = createSettlements({
    store,
    config: parseConfig({
      RPC_URLS: JSON.stringify({ [NETWORK]: 'http://node.example/secret-key' }),
      UNSAFE_ALLOW_PRIVATE_TARGETS: String(unsafe),
    }),
    clock: { now: () => now },
    log: createLog(
      (line) => logged.push(line),
      () => now,
    ),
    createRpc: () => node.rpc,
  })
  const states = async () =>
    (
      await store.db
        .selectFrom('settlement_check')
        .select(['state', 'reason'])
        .orderBy('listing_id')
        .execute()
    ).map(({ state, reason }) => (reason === null ? state : `${state} ${reason}`))
  const evidence = async ({ isContested = false } = {}) => {
    const contested = isContested ? LISTING.payout : []
    const counts = isContested ? [] : LISTING.payout
    const standings = new Map([[LISTING.id, { counts, owned: counts, contested, sharers: 1 }]])
    const facts = await readVerifiedSettlements(store, () => standings, now)
    const sales = facts.sales.get(LISTING.id)
    return sales && toOwnEvidence(sales, { asOf: facts.asOf, vouched: null })
  }
  return {
    settlements,
    logged,
    states,
    evidence,
    pass: (ms: number) => {
      now += ms
    },
  }
}
