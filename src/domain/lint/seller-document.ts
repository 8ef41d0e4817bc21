import { readOpenApi } from '../discovery/openapi.ts'
import { readX402Manifest } from '../discovery/x402-manifest.ts'
import { toCountText } from '../operation/price-text.ts'
import { type Finding, jsonOf, type ProbeAnswer, toInertLine } from '../probe/finding.ts'
import { isJsonObject } from '../wire/json.ts'
import { problemIf } from './lint.ts'

/**
 * For a seller who lints the address of an OpenAPI document or an x402 manifest: what discovery reads
 * in it, and what is wrong there. Every other answer stays as it was heard.
 *
 * @param address where it was read
 */
export function withDocument(heard: Finding, answer: ProbeAnswer, address: string): Finding {
  const value = answer.cut === null ? jsonOf(answer) : undefined
  const api = readOpenApi(value, address)
  const isManifest =
    isJsonObject(value) &&
    ('x402Version' in value || /\/\.well-known\/x402(?:\.json)?$/.test(new URL(address).pathname))
  const document = api ?? (isManifest ? readX402Manifest(value, address) : null)
  if (document === null) return heard
  const { operations, placeholder } = document
  const priced = operations.filter(({ price }) => price !== undefined).length
  const noun = api === null ? 'an x402 manifest' : 'an OpenAPI document'
  const saw = `${heard.saw}, ${noun} with ${toCountText(operations.length, 'operation')}, ${priced} with a price`
  const faults = [
    ...problemIf(
      placeholder !== undefined,
      `payTo holds the placeholder ${toInertLine(JSON.stringify(placeholder ?? ''), 100)}`,
      'Name the wallet that is paid.',
    ),
    ...problemIf(
      operations.length === 0,
      `none of its entries is an operation on ${new URL(address).host}`,
      'Name each operation by its path, or by its https address on this host.',
    ),
  ]
  return { ...heard, saw, ...(faults.length > 0 && { faults }) }
}
