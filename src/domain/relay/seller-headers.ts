import {
  filterHeaders,
  HOP_BY_HOP,
  namesIn,
  namesInConnection,
  type RawHeaders,
} from './relayed-headers.ts'

/** Headers a seller must not see: our session, and the caller's address. */
const NOT_FOR_SELLERS = new Set([
  ...HOP_BY_HOP,
  ...namesIn(`
    expect host cookie cookie2 forwarded via x-real-ip x-client-ip x-cluster-client-ip
    call-expect call-witness x-original-forwarded-for x-envoy-external-address true-client-ip fastly-client-ip
    fly-client-ip cdn-loop cf-connecting-ip cf-connecting-ipv6 cf-pseudo-ipv4 cf-ipcountry
    cf-ray cf-visitor cf-worker x-amzn-trace-id x-amz-cf-id x-azure-clientip x-azure-socketip
    x-appengine-user-ip x-vercel-forwarded-for x-nf-client-connection-ip do-connecting-ip
    wl-proxy-client-ip x-proxyuser-ip
  `),
])

/**
 * @param ownOrigin `BASE_URL`: `Origin` and `Referer` that name us are dropped too, since no header
 *   may tell a seller's checks that the call came from anywhere but its caller.
 */
export function toSellerHeaders(raw: RawHeaders, ownOrigin: string): string[] {
  const named = namesInConnection(raw)
  return filterHeaders(raw, (name, value) => {
    if (NOT_FOR_SELLERS.has(name) || name.startsWith('x-forwarded-') || named.has(name))
      return false
    return (name !== 'origin' && name !== 'referer') || URL.parse(value)?.origin !== ownOrigin
  })
}
