import * as v from 'valibot'
import type { DerivedListing } from '../derived/derived-listing.ts'
import { ShownToolSchema, type Skill, SkillSchema } from '../listing/listing-facts.ts'
import {
  type ExampleRequest,
  encodeBody,
  quoteForShell,
  toCurlOptions,
} from '../listing/operation.ts'
import { costOf, networksOf, type Pricing, PricingSchema, railsOf } from '../listing/pricing.ts'
import { DeliveredSchema } from '../relay/delivered.ts'
import { AuthViewSchema, DiscoverySchema } from '../views/listing-view.ts'
import { TrustSchema, type TrustView } from '../views/trust-view.ts'
import { present } from '../wire/json.ts'
import { badgePath, callPath, pagePath } from '../wire/links.ts'
import { SELLER_TEXTS, SellerTextsSchema } from '../wire/shapes.ts'
import { COSTS, HTTP_METHODS, KINDS, RAILS, type Rail } from '../wire/vocabulary.ts'
import { toMcpSnippets, toSkillSnippets } from './client-setup.ts'
import {
  chooseOperation,
  type KitAgent,
  KitAgentSchema,
  type KitInvoke,
  KitInvokeSchema,
  type KitOperation,
  KitOperationSchema,
  PAID_TOOLS,
  toAccessHeaders,
  toAgentRequest,
  toKitAgent,
  toKitInvoke,
  toKitOperations,
} from './kit-entries.ts'

/** How to pay, for kit.json: which headers are sent and received on which rail. */
export const KitPaymentSchema = v.object({
  rails: v.array(v.picklist(RAILS)),
  networks: v.array(v.string()),
  request_headers: v.array(v.string()),
  /** Response headers that contain the terms and the receipt. */
  response_headers: v.array(v.string()),
  /** For paid tools of MCP servers: the members of `_meta` that carry a payment, and how to pay. */
  over_mcp: v.optional(
    v.object({
      request_meta: v.array(v.string()),
      response_meta: v.array(v.string()),
      how: v.string(),
    }),
  ),
  authority: v.string(),
  custody: v.literal('none'),
  fee_usd: v.literal(0),
  relay: v.nullable(v.object({ url: v.string(), info: v.string() })),
})

/** Version label of the manifest (spec: Versioning). */
const KIT_VERSION = 'v0.1'

const HttpInvokeSchema = v.object({
  kind: v.literal('http'),
  method: v.picklist(HTTP_METHODS),
  /** The address, which may have `{placeholders}` in its path; `operations` describes them. */
  url: v.string(),
  /** The same endpoint through the relay; absent if the relay cannot call the listing. */
  relay_url: v.optional(v.string()),
  description: v.optional(v.string()),
})

/** kit.json v0.1: everything an agent needs to call a listing, and to pay for it. */
export const KitViewSchema = v.object({
  kit_version: v.literal(KIT_VERSION),
  id: v.string(),
  /** Digest of what a caller relies on; changes if and only if one of those facts changes. */
  digest: v.string(),
  name: v.string(),
  kind: v.picklist(KINDS),
  summary: v.string(),
  url: v.string(),
  cost: v.picklist(COSTS),
  auth: AuthViewSchema,
  invoke: v.array(v.union([KitInvokeSchema, HttpInvokeSchema])),
  /** HTTP listings: operations, each with a request that can be sent as it is. */
  operations: v.array(KitOperationSchema),
  /** MCP servers: their tools with the schemas of their arguments, if a machine read them. */
  tools: v.array(ShownToolSchema),
  /** A2A agents: skills from their card. */
  skills: v.array(SkillSchema),
  /** A2A agents: where messages go, from the last card read; absent if none was read. */
  agent: v.optional(KitAgentSchema),
  pricing: PricingSchema,
  payment: KitPaymentSchema,
  /** Payees, CAIP-10, as far as known: the seller's 402 decides. */
  payees: v.array(v.string()),
  discovery: DiscoverySchema,
  /** Ready to paste: code by language for HTTP, configuration by client for MCP, a command by agent for skills. */
  snippets: v.record(v.string(), v.string()),
  trust: TrustSchema,
  /** Deliveries for accepted payments, in 30 days; absent if nothing is known. */
  delivered: v.optional(DeliveredSchema),
  page: v.string(),
  badge_svg: v.string(),
  texts: SellerTextsSchema,
})
export type KitView = v.InferOutput<typeof KitViewSchema>

interface KitContext {
  baseUrl: string
  /** The trust view of the full listing. */
  trust: TrustView
}

export function toKitView(listing: DerivedListing, { baseUrl, trust }: KitContext): KitView {
  const { id, facts, surface } = listing
  const relayUrl = listing.buy.buy === 'relay_x402' ? `${baseUrl}${callPath(id)}` : null
  const operations = toKitOperations(listing, relayUrl)
  const invoke = toKitInvoke(facts.invoke, facts.auth)
  const called = operations.map(({ method, url, relay_url, description }) => {
    return { kind: 'http' as const, method, url, ...present({ description, relay_url }) }
  })
  const agent = toKitAgent(listing)
  return {
    kit_version: KIT_VERSION,
    id,
    digest: listing.digest,
    name: facts.name,
    kind: facts.kind,
    summary: facts.summary,
    url: facts.url,
    cost: costOf(facts),
    auth: facts.auth,
    invoke: [...invoke, ...called],
    operations,
    tools: surface.tools,
    skills: surface.skills,
    ...present({ agent }),
    pricing: facts.pricing,
    payment: toKitPayment(facts.pricing, relayUrl, facts.kind === 'mcp_server'),
    payees: listing.payees,
    discovery: facts.discovery,
    snippets: toSnippets(listing, invoke, operations),
    trust,
    ...present({ delivered: listing.delivered }),
    page: `${baseUrl}${pagePath(id)}`,
    badge_svg: `${baseUrl}${badgePath(id)}`,
    texts: SELLER_TEXTS,
  }
}

function toSnippets(
  listing: DerivedListing,
  invoke: readonly KitInvoke[],
  operations: readonly KitOperation[],
): Record<string, string> {
  const { id, facts, surface } = listing
  const operation = chooseOperation(operations)
  switch (facts.kind) {
    case 'http_api':
      return operation === undefined ? {} : toOperationSnippets(facts.pricing, operation)
    case 'mcp_server':
      return toMcpSnippets(id, invoke)
    case 'a2a_agent':
      return toAgentSnippets(
        facts.url,
        facts.discovery.agent_card,
        surface.skills,
        toAccessHeaders(facts.auth),
        toKitAgent(listing),
      )
    case 'kit':
      return toSkillSnippets(facts)
  }
}

/** @param rail the only rail to pay on; by default all of the operation's rails */
export function toOperationSnippets(
  pricing: Pricing,
  operation: KitOperation,
  rail?: Rail,
): Record<string, string> {
  return toHttpSnippets(toSent(operation), toTerms(pricing, operation, rail))
}

type PaymentTerms = Pick<ReturnType<typeof toTerms>, 'rails' | 'networks'>

/** The operation's own offers, else the listing's offers for all operations. */
function toTerms(pricing: Pricing, { offers = [] }: KitOperation, rail?: Rail) {
  const onRail = rail === undefined ? offers : offers.filter((offer) => offer.rail === rail)
  const chosen = onRail.length > 0 ? onRail : offers
  if (chosen.length > 0)
    return {
      rails: [...new Set(chosen.map((offer) => offer.rail))],
      networks: [...new Set(chosen.flatMap(({ network }) => network ?? []))],
    }
  return pricing.model === 'per_call' ? pricing : { rails: [], networks: [] }
}

/** Code that runs as pasted: URLs, headers and bodies are foreign text, and are quoted. */
function toHttpSnippets(
  request: ExampleRequest,
  { rails, networks }: PaymentTerms,
): Record<string, string> {
  const { body, ...head } = request
  const sent =
    body === undefined ? {} : { body: encodeBody(head.headers['Content-Type'] ?? '', body) }
  const call: Call = { ...head, ...sent }
  const isSolanaOnly = networks.length > 0 && networks.every((id) => id.startsWith('solana:'))
  const way = rails.includes('x402') ? (isSolanaOnly ? 'solana' : 'x402') : (rails[0] ?? 'plain')
  return {
    curl: toCurl(request, rails),
    typescript: toTypeScript(way, call),
    python: way === 'x402' ? toEvmPython(call) : toPlainPython(call, way !== 'plain'),
  }
}

interface Call extends ExampleRequest {
  /** The body as sent; absent if no body is sent. */
  body?: string
}

function toCurl(request: ExampleRequest, rails: readonly Rail[]): string {
  const options = toCurlOptions(request)
  if (rails.length === 0) return `curl -sS -i ${options}\n`
  const [comment, header] = rails.includes('x402')
    ? ['what your wallet signed for these terms', 'PAYMENT-SIGNATURE: $PAYMENT']
    : ['the credential your wallet made of this challenge', 'Authorization: Payment $PAYMENT']
  return [
    "# 1. Call: the answer is a 402 with the seller's terms, and costs nothing.",
    `curl -sS -i ${options}`,
    `# 2. Pay: set PAYMENT to ${comment}; this sends it.`,
    `[ -z "\${PAYMENT:-}" ] || curl -sS -i -H "${header}" ${options}`,
    '',
  ].join('\n')
}

const KEY_STAYS = 'The key stays here: it signs, and only the signature is sent.'

/** The code that comes before the call, for each way to pay. */
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

/** @param isPaid whether the seller is paid in a way for which we know no Python code */
function toPlainPython(call: Call, isPaid: boolean): string {
  const note = "# This prints the seller's terms and pays nothing; the code in TypeScript pays.\n"
  return `${isPaid ? note : ''}from urllib.error import HTTPError
from urllib.request import Request, urlopen

request = Request(${JSON.stringify(call.url)}, method="${call.method}"${toPythonArguments(call)})
try:
    response = urlopen(request)
except HTTPError as refusal:  # its body says why
    response = refusal
print(response.status, response.read().decode())
`
}

/**
 * The card decides where messages go and which protocol is spoken, so the snippet reads the card.
 * @param cardUrl the published card, or undefined for the well-known place on the agent's origin
 * @param agent facts from the card read last; with these, one request is enough
 */
function toAgentSnippets(
  url: string,
  cardUrl: string | undefined,
  skills: readonly Skill[],
  access: Readonly<Record<string, string>>,
  agent?: KitAgent,
): Record<string, string> {
  const card = cardUrl ?? new URL('/.well-known/agent-card.json', url).href
  const text = skills.flatMap(({ examples = [] }) => examples)[0] ?? 'What can you do?'
  return {
    curl: toAgentCurl(card, { text, access }, agent),
    typescript: toAgentTypeScript(card, { text, access }),
    python: toPython(card, { text, access }),
  }
}

/** The text of a first message, and the headers that give access. */
interface FirstMessage {
  text: string
  access: Readonly<Record<string, string>>
}

function toAgentCurl(card: string, { text, access }: FirstMessage, agent?: KitAgent): string {
  const send = (protocol: string, url: string) => {
    const request = { message: '00000000-0000-4000-8000-000000000001', text }
    const { headers = {}, body } = toAgentRequest(protocol, request)
    const fields = { 'Content-Type': 'application/json', ...access, ...headers }
    const options = Object.entries(fields).map(([name, value]) => `-H '${name}: ${value}'`)
    return `curl -sS ${options.join(' ')} --data-raw ${quoteForShell(JSON.stringify(body))} ${url}`
  }
  if (agent?.binding === 'JSONRPC')
    return `${send(agent.protocol ?? '', quoteForShell(agent.url))}\n`
  return [
    '# 1. Read the card: it says where messages go, and in which protocol version.',
    `curl -sS ${quoteForShell(card)}`,
    '# 2. Send a message: to the JSONRPC interface of a 1.0 card …',
    `[ -z "\${A2A_1_0_URL:-}" ] || ${send('1.0', '"$A2A_1_0_URL"')}`,
    '# … or to the url of a 0.3 card.',
    `[ -z "\${A2A_0_3_URL:-}" ] || ${send('0.3', '"$A2A_0_3_URL"')}`,
    '',
  ].join('\n')
}

function toAgentTypeScript(card: string, { text, access }: FirstMessage): string {
  const headers = Object.entries(access).map(
    (each) => `    ${each.map((part) => JSON.stringify(part)).join(': ')},\n`,
  )
  return `const card = await (await fetch(${JSON.stringify(card)})).json()
const found = card.supportedInterfaces?.find(
  (each: { protocolBinding: string }) => each.protocolBinding === 'JSONRPC',
)
// A 1.0 card lists interfaces; a 0.3 card has one url.
const isV1 = found?.protocolVersion.startsWith('1') ?? false
const text = ${JSON.stringify(text)}
const messageId = crypto.randomUUID()
const message = isV1
  ? { messageId, role: 'ROLE_USER', parts: [{ text }] }
  : { messageId, kind: 'message', role: 'user', parts: [{ kind: 'text', text }] }
const response = await fetch(found?.url ?? card.url, {
  method: 'POST',
  headers: {
    'Content-Type': 'application/json',
${headers.join('')}    ...(isV1 && { 'A2A-Version': '1.0' }),
  },
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: isV1 ? 'SendMessage' : 'message/send',
    params: { message },
  }),
})
console.log(response.status, await response.text())
`
}

function toPython(card: string, { text, access }: FirstMessage): string {
  return `import json
import uuid
from urllib.request import Request, urlopen

card = json.load(urlopen(${JSON.stringify(card)}))
interfaces = card.get("supportedInterfaces", [])
found = next((each for each in interfaces if each["protocolBinding"] == "JSONRPC"), None)
# A 1.0 card lists interfaces; a 0.3 card has one url.
is_v1 = found is not None and found["protocolVersion"].startswith("1")
part = {"text": ${JSON.stringify(text)}}
message = {"messageId": str(uuid.uuid4()), "role": "ROLE_USER", "parts": [part]}
if not is_v1:
    message.update(kind="message", role="user", parts=[{"kind": "text", **part}])
method = "SendMessage" if is_v1 else "message/send"
body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message}}
headers = ${JSON.stringify({ 'Content-Type': 'application/json', ...access })
    .replaceAll('":"', '": "')
    .replaceAll('","', '", "')}
if is_v1:
    headers["A2A-Version"] = "1.0"
url = found["url"] if found is not None else card["url"]
request = Request(url, json.dumps(body).encode(), headers)
print(urlopen(request).read().decode())
`
}

/** The request to send: through the relay if possible. */
function toSent({ example }: KitOperation): ExampleRequest {
  const { relay_url, ...request } = example
  return { ...request, url: relay_url ?? request.url }
}

const AUTHORITY =
  "The seller's runtime 402 is authoritative for price, network and payee. These are the values the seller published."

/** Paid HTTP services have the same prefix on either rail. */
const MPP_ALONE = `${AUTHORITY} This listing takes MPP and no x402 wallet: its rails, not the prefix of its id, decide how to pay it.`

/** A v2 seller reads only `PAYMENT-SIGNATURE`, a v1 seller only `X-PAYMENT`: the 402 shows which. */
const HEADERS: Record<Rail, { request: string[]; response: string[] }> = {
  x402: {
    request: ['PAYMENT-SIGNATURE', 'X-PAYMENT'],
    response: ['PAYMENT-REQUIRED', 'PAYMENT-RESPONSE', 'X-PAYMENT-RESPONSE'],
  },
  mpp: {
    request: ['Authorization', 'Accept-Payment'],
    response: ['WWW-Authenticate', 'Payment-Receipt'],
  },
}

/** Members of `_meta` that carry a payment and its receipt. */
const META: Record<Rail, { request: string; response: string }> = {
  x402: { request: 'x402/payment', response: 'x402/payment-response' },
  mpp: { request: 'org.paymentauth/credential', response: 'org.paymentauth/receipt' },
}

/** @param isMcp whether the listing's tools are called over MCP, which has no headers of its own */
function toKitPayment(
  pricing: Pricing,
  relayUrl: string | null,
  isMcp = false,
): v.InferOutput<typeof KitPaymentSchema> {
  const rails = [...railsOf(pricing)]
  return {
    rails,
    networks: [...networksOf(pricing)],
    request_headers: isMcp ? [] : rails.flatMap((rail) => HEADERS[rail].request),
    response_headers: isMcp ? [] : rails.flatMap((rail) => HEADERS[rail].response),
    ...(isMcp &&
      rails.length > 0 && {
        over_mcp: {
          request_meta: rails.map((rail) => META[rail].request),
          response_meta: rails.map((rail) => META[rail].response),
          how: PAID_TOOLS,
        },
      }),
    authority: rails.length > 0 && !rails.includes('x402') ? MPP_ALONE : AUTHORITY,
    custody: 'none',
    fee_usd: 0,
    relay: relayUrl === null ? null : { url: relayUrl, info: `${relayUrl}?relay_info=1` },
  }
}
