import type { EvmRule } from './evm-log.ts'
import { addressAt, amountOf, type EvmCall, isTransferOf, toAddress, wordAt } from './evm-log.ts'

/**
 * Permit2, x402 `exact` and `upto`: the buyer signs for a proxy, and the proxy's call names coin,
 * buyer and seller. The logs show less: the coin's transfer, and an event of the proxy without any
 * content. So the call is read, and it must go to a listed proxy.
 *
 * A forger could write the same event in a proxy of his own (it is not on the list), or have the true
 * proxy move a coin of his own that makes a pool pay the seller in real ones (the call names his coin,
 * and not the pool). A call inside another one, as bundlers send it, is not seen.
 */
/** Positions of a call's words; for `exact`, the amount is the permitted one. */
interface Layout {
  selector: string
  /** For `permit.permitted.token`; the permitted amount follows. */
  token: number
  amount: number
  owner: number
  to: number
}

/** `settle` and `settleWithPermit`, which has five additional words first. */
function bothWays(settle: string, withPermit: string, words: Omit<Layout, 'selector'>): Layout[] {
  const later = Object.entries(words).map(([name, at]) => [name, at + 5])
  return [
    { selector: settle, ...words },
    { selector: withPermit, ...words, ...Object.fromEntries(later) },
  ]
}

const EXACT = bothWays('0x13cd3b53', '0xfa340378', { token: 0, amount: 1, owner: 4, to: 5 })
const UPTO_WORDS = { token: 0, amount: 4, owner: 5, to: 6 }
const UPTO = bothWays('0xff11e7b4', '0x016c1748', UPTO_WORDS)
/** Before the buyer could name who may settle. */
const FIRST_UPTO = bothWays('0x4bbb9642', '0x595ea2f0', UPTO_WORDS)

/**
 * By version of the packages. An address fixes the code on every EVM chain, and where nothing is
 * deployed a call leaves no log. Those of 2.3, whose calls had another form, were in use for weeks
 * and are left out.
 */
const PROXIES: Record<
  string,
  { scheme: 'permit2_exact' | 'permit2_upto'; layouts: readonly Layout[] }
> = {
  // 2.5 and later.
  '0x402085c248eea27d92e8b30b2c58ed07f9e20001': { scheme: 'permit2_exact', layouts: EXACT },
  '0x402039b3d6e6bec5a02c2c9fd937ac17a6940002': { scheme: 'permit2_upto', layouts: FIRST_UPTO },
  // 2.9 and later.
  '0x4020a4f3b7b90cca423b9fabcc0ce57c6c240002': { scheme: 'permit2_upto', layouts: UPTO },
}

/** A call pays once. */
export const permit2: EvmRule = {
  read({ logs, call, coin }) {
    const stated = call === null ? null : readCall(call)
    if (stated === null || stated.token !== coin || stated.amount > stated.permitted) return []
    const { scheme, payer, payee, amount } = stated
    const log = logs.find(
      (one) =>
        isTransferOf(one, coin) &&
        toAddress(one.topics[1]) === payer &&
        toAddress(one.topics[2]) === payee &&
        amountOf(one) === amount,
    )
    if (log === undefined || amount === 0n) return []
    return [{ scheme, log, payer, consent: log }]
  },
}

/** The payment in a call to a proxy; null for any other call. */
function readCall({ to, input }: EvmCall) {
  const proxy = PROXIES[to ?? '']
  const layout = proxy?.layouts.find(({ selector }) => input.startsWith(selector))
  if (proxy === undefined || layout === undefined) return null
  const words = `0x${input.slice(10)}`
  return {
    scheme: proxy.scheme,
    token: addressAt(words, layout.token),
    permitted: wordAt(words, layout.token + 1),
    amount: wordAt(words, layout.amount),
    payer: addressAt(words, layout.owner),
    payee: addressAt(words, layout.to),
  }
}
