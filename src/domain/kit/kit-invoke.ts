import * as v from 'valibot'
import type { DerivedListing } from '../derived/derived-listing.ts'
import { toPlaceholder } from '../json-schema/json-schema.ts'
import type { Auth } from '../listing/auth.ts'
import { fillAddress, findExampleGap, type InvokeEntry, type Setting } from '../listing/invoke.ts'
import { withQuery } from '../operation/example-request.ts'
import { InvokeSchema } from '../views/summary-view.ts'
import { present } from '../wire/json.ts'

const KitSettingSchema = v.object({
  name: v.string(),
  description: v.optional(v.string()),
  required: v.boolean(),
  secret: v.boolean(),
  example: v.optional(v.string()),
  default: v.optional(v.string()),
  choices: v.optional(v.array(v.string())),
  /** What to put there; a `<PLACEHOLDER>` where only the caller can know. */
  value: v.string(),
})
export type KitSetting = v.InferOutput<typeof KitSettingSchema>

const [remote, packaged] = InvokeSchema.options

/** How an MCP server is reached or started, with what the caller must provide. */
export const KitInvokeSchema = v.variant('kind', [
  v.object({
    ...remote.entries,
    /** With each variable's value in its place. */
    url: v.string(),
    variables: v.optional(v.array(KitSettingSchema)),
    headers: v.optional(v.array(KitSettingSchema)),
  }),
  v.object({
    ...packaged.entries,
    env: v.optional(v.array(KitSettingSchema)),
    args: v.optional(v.array(v.string())),
  }),
])
export type KitInvoke = v.InferOutput<typeof KitInvokeSchema>

export function toKitInvoke(invoke: readonly InvokeEntry[], auth: Auth): KitInvoke[] {
  return invoke.map((entry): KitInvoke => {
    if (entry.kind === 'mcp') {
      const { kind, transport, variables: named = [] } = entry
      const headers = headersOf(entry, auth).map(toKitSetting)
      const variables = named.map(toKitSetting)
      const filled = fillAddress(entry, (variable) => toKitSetting(variable).value)
      return {
        ...{ kind, transport, url: withQueryKey(filled, auth) },
        ...(variables.length > 0 && { variables }),
        ...(headers.length > 0 && { headers }),
      }
    }
    const { env = [], args = [] } = entry
    return {
      ...v.parse(packaged, entry),
      ...(env.length > 0 && { env: env.map(toKitSetting) }),
      ...(args.length > 0 && { args }),
    }
  })
}

/** Declared headers, else the one the listing's own `auth` names. OAuth is the client's business. */
function headersOf({ headers }: { headers?: Setting[] | undefined }, auth: Auth): Setting[] {
  if (headers !== undefined) return headers
  const secret = { required: true, secret: true }
  if (auth.type === 'bearer') return [{ name: 'Authorization', ...secret, example: 'Bearer …' }]
  return auth.type === 'api_key' && auth.in === 'header' && auth.name !== undefined
    ? [{ name: auth.name, ...secret }]
    : []
}

/** A key in the address has its place there, for every client. */
function withQueryKey(url: string, auth: Auth): string {
  if (auth.type !== 'api_key' || auth.in !== 'query' || auth.name === undefined) return url
  const { name } = auth
  if (URL.parse(url)?.searchParams.has(name) === true) return url
  return withQuery(url, [[name, toPlaceholder(name)]])
}

function toKitSetting(setting: Setting): KitSetting {
  const { name, description, required, secret, choices } = setting
  // A realistic sample gets pasted unchanged, and the mistake shows much later.
  const isSample = findExampleGap(setting).length > 0
  const example = isSample ? undefined : setting.example
  const known = setting.default ?? example
  const value = secret || known === undefined ? toSecretValue(setting) : known
  return {
    ...{ name, ...present({ description }), required, secret },
    ...present({ example, default: setting.default, choices }),
    value,
  }
}

/** What a seller says of a setting, and what may stand there. */
export function toSettingWords(
  setting: Pick<KitSetting, 'description' | 'choices' | 'default'>,
): string[] {
  const { description, choices = [] } = setting
  return [
    ...(description === undefined ? [] : [description]),
    ...(choices.length === 0 ? [] : [`one of ${choices.join(', ')}`]),
    ...(setting.default === undefined ? [] : [`${setting.default} unless said otherwise`]),
  ]
}

/** @example toSecretValue({ name: 'Authorization', example: 'Bearer …' }) → 'Bearer <TOKEN>' */
function toSecretValue({ name, example = '' }: Setting): string {
  const scheme = /^(?:Bearer|Basic|Token|ApiKey|Bot) (?=\S)/i.exec(example)?.[0]
  return scheme === undefined ? toPlaceholder(name) : `${scheme}${toPlaceholder('token')}`
}

export const KitAgentSchema = v.object({
  url: v.string(),
  binding: v.string(),
  protocol: v.optional(v.string()),
})
export type KitAgent = v.InferOutput<typeof KitAgentSchema>

/** Where messages to an agent go, as far as its last read card says. */
export function toKitAgent({ facts, evidence }: DerivedListing): KitAgent | undefined {
  const { url, binding, protocol } = evidence.interface?.server ?? {}
  if (facts.kind !== 'a2a_agent' || url === undefined || binding === undefined) return undefined
  return { url, binding, ...present({ protocol }) }
}

/** @param protocol version its card declares; before 1.0 messages had another form */
export function toAgentRequest(
  protocol: string,
  { message, text }: Record<'message' | 'text', string>,
) {
  const isV1 = protocol.startsWith('1')
  const messageId = message
  const sent = isV1
    ? { messageId, role: 'ROLE_USER', parts: [{ text }] }
    : { messageId, kind: 'message', role: 'user', parts: [{ kind: 'text', text }] }
  const method = isV1 ? 'SendMessage' : 'message/send'
  return {
    ...(isV1 && { headers: { 'A2A-Version': '1.0' } }),
    body: { jsonrpc: '2.0', id: 1, method, params: { message: sent } },
  }
}
