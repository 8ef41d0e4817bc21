import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { codeOf } from '../../../src/domain/wire/operator-error.ts'
import { isJsonObject } from '../../../src/domain/wire/parse-json.ts'
import type { Wallet } from '../src/payment.ts'
import { UsageFault } from './command-line.ts'

/** A wallet is a module of the caller's own, for either rail: keys never come near this command. */
export async function loadWallet(file: string) {
  const loaded: { default?: unknown; allowTestCoins?: unknown } = await importWallet(file)
  const wallet = typeof loaded.default === 'function' ? await loaded.default() : loaded.default
  if (!isWallet(wallet))
    throw new UsageFault(
      `--wallet ${file}: expected a default export with createPaymentPayload(terms), such as an x402Client of @x402/core, with createCredential(response), such as a client of mppx, or a function that makes one`,
    )
  return { wallet, allowTestCoins: loaded.allowTestCoins === true }
}

async function importWallet(file: string) {
  try {
    return await import(pathToFileURL(resolve(file)).href)
  } catch (error) {
    const advice =
      codeOf(error) === 'ERR_MODULE_NOT_FOUND'
        ? '. What it imports is installed beside it: npm install @x402/core @x402/evm for x402, npm install mppx for MPP'
        : ''
    throw new UsageFault(
      `--wallet ${file}: ${error instanceof Error ? error.message : error}${advice}`,
    )
  }
}

function isWallet(value: unknown): value is Wallet {
  return (
    isJsonObject(value) &&
    (typeof value.createPaymentPayload === 'function' ||
      typeof value.createCredential === 'function')
  )
}
