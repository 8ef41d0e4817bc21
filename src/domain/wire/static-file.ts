import * as v from 'valibot'

/** One file of a release as its manifest lists it. */
export const StaticFileSchema = v.strictObject({
  /** Path below the release's public folder. */
  file: v.string(),
  type: v.string(),
  /** Digest of the uncompressed bytes; the strong ETag is made of it. */
  digest: v.string(),
  size: v.number(),
  /** Bytes of the compressed neighbours `.br` and `.gz`; 0 without one. */
  br: v.number(),
  gz: v.number(),
})
export type StaticFile = v.InferOutput<typeof StaticFileSchema>

/**
 * The address a file answers on: `x/index.html` and `x/index.json` are `/x`.
 *
 * @example toUrlPath('listing/x402.foo/index.html') → '/listing/x402.foo'
 */
export function toUrlPath(file: string): string {
  return `/${file.replace(/(?:^|\/)index\.(?:html|json)$/, '')}`
}
