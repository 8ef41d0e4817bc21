import { createHash } from 'node:crypto'
import { encodeBase58, tokenAccountOf } from '../../src/domain/trust/solana-payments.ts'

export const NETWORK = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
export const GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d'
export const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
export const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
export const BUDGET = 'ComputeBudget111111111111111111111111111111'
export const SHOP = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM'

/** A key nobody has, by name. */
export const key = (name: string) => encodeBase58(createHash('sha256').update(name).digest())
export const signature = (name: string) => encodeBase58(createHash('sha512').update(name).digest())
const accounts = new Map<string, string>()
export function accountOf(wallet: string): string {
  const account = accounts.get(wallet) ?? tokenAccountOf(wallet, USDC) ?? ''
  accounts.set(wallet, account)
  return account
}
export const [SPONSOR, ALICE, BOB] = [key('sponsor'), key('alice'), key('bob')]

export interface Moved {
  from: string
  to: string
  amount: number
  sponsor?: string
  mint?: string
  more?: object[]
  err?: object
}

/** A transaction as a node tells it, parsed; at least what is read of it. */
export function transaction(name: string, at: number, moved: Moved) {
  const { from, to, amount, sponsor = SPONSOR, mint = USDC, more = [], err } = moved
  const [source, destination] = [accountOf(from), accountOf(to)]
  const keys = [...new Set([sponsor, from, source, destination])]
  const balance = (account: string, owner: string, units: number) => ({
    accountIndex: keys.indexOf(account),
    mint,
    owner,
    uiTokenAmount: { amount: String(units) },
  })
  const info = {
    source,
    destination,
    mint,
    authority: from,
    tokenAmount: { amount: String(amount), decimals: 6 },
  }
  return {
    slot: Math.floor(at / 400),
    blockTime: Math.floor(at / 1000),
    meta: {
      err: err ?? null,
      fee: 5000,
      preTokenBalances: [balance(source, from, 1_000_000), balance(destination, to, 0)],
      postTokenBalances: [
        balance(source, from, 1_000_000 - amount),
        balance(destination, to, amount),
      ],
    },
    transaction: {
      signatures: [signature(name), signature(`${name}, second`)],
      message: {
        accountKeys: keys.map((pubkey) => ({
          pubkey,
          signer: [sponsor, from].includes(pubkey),
          writable: true,
        })),
        instructions: [
          { programId: BUDGET, accounts: [], data: 'K1FDJ7', stackHeight: null },
          { programId: TOKEN, program: 'spl-token', parsed: { type: 'transferChecked', info } },
          ...more,
        ],
      },
    },
  }
}
export type Reported = ReturnType<typeof transaction>
