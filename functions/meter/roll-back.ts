import { type Block, type EvmChain, needBlock } from '../settlements/evm-chain.ts'
import type { ChainWork } from './meter-world.ts'

/**
 * Rolls back what was read from blocks that have left the chain, down to the last remembered block
 * that still is, however deep. A node that is merely behind rolls nothing back.
 *
 * @param head the node's newest block
 * @returns the last block that stays, or null when nothing was removed
 */
export async function rollBack(work: ChainWork, chain: EvmChain, head: number) {
  const { store, network } = work
  const known = await store.db
    .selectFrom('meter_block')
    .select(['number', 'hash'])
    .where('network', '=', network)
    .where('number', '<=', head)
    .orderBy('number')
    .execute()
  const isThere = async ({ number, hash }: Pick<Block, 'number' | 'hash'>) =>
    (await needBlock(chain, number)).hash === hash
  const newest = known.at(-1)
  if (newest === undefined || (await isThere(newest))) return null
  // All blocks before an existing one exist too: the common ancestor is found by bisection.
  let low = 0
  let high = known.length - 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const block = known[middle]
    if (block !== undefined && (await isThere(block))) low = middle + 1
    else high = middle
  }
  const ancestor = known[low - 1]?.number ?? -1
  await takeBack(work, ancestor)
  return ancestor
}

const READ_BY_BLOCK = [
  ['wallet_transfer', 'block_number'],
  ['meter_payer', 'first_block'],
  ['meter_block', 'number'],
] as const

/** Forgets everything after a block, so that it is read again. */
async function takeBack(work: ChainWork, ancestor: number): Promise<void> {
  const { network } = work
  await work.write(async (trx) => {
    await trx
      .deleteFrom('settlement')
      .where('network', '=', network)
      .where('block_number', '>', ancestor)
      .execute()
    for (const [table, column] of READ_BY_BLOCK)
      await trx
        .deleteFrom(table)
        .where('network', '=', network)
        .where(column, '>', ancestor)
        .execute()
    await trx
      .updateTable('meter_payer')
      .set({ paid_others_block: null })
      .where('network', '=', network)
      .where('paid_others_block', '>', ancestor)
      .execute()
    await trx
      .updateTable('meter_cursor')
      .set((eb) => ({
        next_block: eb
          .case()
          .when('first_block', '>', ancestor + 1)
          .then(eb.ref('first_block'))
          .else(ancestor + 1)
          .end(),
      }))
      .where('network', '=', network)
      .where('next_block', '>', ancestor + 1)
      .execute()
  })
}
