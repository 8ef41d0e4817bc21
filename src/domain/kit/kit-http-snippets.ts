import { type ExampleRequest, encodeBody } from '../operation/example-request.ts'
import type { Rail } from '../wire/vocabulary.ts'
import { quoteForShell } from './quote-for-shell.ts'

/** Code that runs as it is pasted: URLs, headers and bodies are foreign text, and are quoted. */
export function toHttpSnippets(
  request: ExampleRequest,
  { rails, networks }: PaymentTerms,
): Record<string, string> {
  const { method, url, headers, body } = request
  const sent = body !== undefined && { body: encodeBody(headers['Content-Type'] ?? '', body) }
  const call: Call = { method, url, headers, ...sent }
  const isSolanaOnly = networks.length > 0 && networks.every((id) => id.startsWith('solana:'))
  const way = rails.includes('x402') ? (isSolanaOnly ? 'solana' : 'x402') : (rails[0] ?? 'plain')
  return {
    curl: toCurl(call, rails),
    typescript: toTypeScript(way, call),
    python: way === 'x402' ? toEvmPython(call) : toPlainPython(call),
  }
}

export interface PaymentTerms {
  rails: readonly Rail[]
  networks: readonly string[]
}

interface Call extends ExampleRequest {
  /** As sent; absent where none is sent. */
  body?: string
}

function toCurl({ method, url, headers, body }: Call, rails: readonly Rail[]): string {
  // Without -g brackets and braces of a URL are patterns; --data-raw reads no file for an @.
  const options = [
    `-g -X ${method}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoteForShell(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-raw ${quoteForShell(body)}`]),
    quoteForShell(url),
  ].join(' ')
  if (rails.length === 0) return `curl -sS -i ${options}\n`
  const [comment, header] = rails.includes('x402')
    ? ['the payload your wallet signed for those terms', 'PAYMENT-SIGNATURE: $PAYMENT']
    : ['the credential your wallet made for that challenge', 'Authorization: Payment $PAYMENT']
  return [
    "# 1. Ask: the answer is a 402 with the seller's terms, and costs nothing.",
    `curl -sS -i ${options}`,
    `# 2. Pay: send ${comment}.`,
    `[ -z "\${PAYMENT:-}" ] || curl -sS -i -H "${header}" ${options}`,
    '',
  ].join('\n')
}

const KEY_STAYS = 'The key stays here: it signs, and only the signature is sent.'

/** Code before the call, by the way to pay. */
const TYPESCRIPT = {
  x402: `// npm install @x402/fetch @x402/evm viem
import { ExactEvmScheme } from '@x402/evm'
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { privateKeyToAccount } from 'viem/accounts'

// ${KEY_STAYS}
const account = privateKeyToAccount(process.env.EVM_PRIVATE_KEY as \`0x\${string}\`)
const pay = wrapFetchWithPaymentFromConfig(fetch, {
  schemes: [{ network: 'eip155:*', client: new ExactEvmScheme(account) }],
})
`,
  solana: `// npm install @x402/fetch @x402/svm @solana/kit @scure/base
import { base58 } from '@scure/base'
import { createKeyPairSignerFromBytes } from '@solana/kit'
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { ExactSvmScheme } from '@x402/svm'

// ${KEY_STAYS}
const key = base58.decode(process.env.SVM_PRIVATE_KEY as string)
const pay = wrapFetchWithPaymentFromConfig(fetch, {
  schemes: [{ network: 'solana:*', client: new ExactSvmScheme(await createKeyPairSignerFromBytes(key)) }],
})
`,
  mpp: `// npm install mppx viem
import { Mppx, tempo } from 'mppx/client'
import { privateKeyToAccount } from 'viem/accounts'

// ${KEY_STAYS}
const account = privateKeyToAccount(process.env.EVM_PRIVATE_KEY as \`0x\${string}\`)
Mppx.create({ methods: [tempo({ account })] })
`,
  plain: '',
}

function toTypeScript(way: keyof typeof TYPESCRIPT, call: Call): string {
  const send = TYPESCRIPT[way].includes('const pay =') ? 'pay' : 'fetch'
  return `${TYPESCRIPT[way]}const response = await ${send}(${toFetchArguments(call)})
console.log(response.status, await response.text())
`
}

function toFetchArguments({ method, url, headers, body }: Call): string {
  const names = Object.keys(headers)
  if (names.length === 0 && body === undefined)
    return `${JSON.stringify(url)}, { method: '${method}' }`
  return [
    `${JSON.stringify(url)}, {`,
    `  method: '${method}',`,
    ...(names.length === 0 ? [] : [`  headers: ${JSON.stringify(headers)},`]),
    ...(body === undefined ? [] : [`  body: ${JSON.stringify(body)},`]),
    '}',
  ].join('\n')
}

/** A JSON string is a Python string. */
function toPythonArguments({ headers, body }: Call): string {
  return [
    ...(Object.keys(headers).length === 0 ? [] : [`, headers=${JSON.stringify(headers)}`]),
    ...(body === undefined ? [] : [`, data=${JSON.stringify(body)}.encode()`]),
  ].join('')
}

function toEvmPython(call: Call): string {
  return `# pip install "x402[requests,evm]" eth-account
import os

from eth_account import Account
from x402 import x402ClientSync
from x402.http.clients import x402_requests
from x402.mechanisms.evm import EthAccountSigner
from x402.mechanisms.evm.exact import ExactEvmScheme

# ${KEY_STAYS}
account = Account.from_key(os.environ["EVM_PRIVATE_KEY"])
client = x402ClientSync()
client.register("eip155:*", ExactEvmScheme(signer=EthAccountSigner(account)))
with x402_requests(client) as session:
    response = session.request("${call.method}", ${JSON.stringify(call.url)}${toPythonArguments(call)})
    print(response.status_code, response.text)
`
}

function toPlainPython(call: Call): string {
  return `from urllib.error import HTTPError
from urllib.request import Request, urlopen

request = Request(${JSON.stringify(call.url)}, method="${call.method}"${toPythonArguments(call)})
try:
    response = urlopen(request)
except HTTPError as refusal:  # its body says why
    response = refusal
print(response.status, response.read().decode())
`
}
