import search from './search.js'

/** Addresses that are answered here. The server of `FUNCTIONS` answers the rest. */
const SEARCHES = ['/api/v1/search', '/api/v1/operations']

export default {
  async fetch(request, env) {
    // Two Host lines leave no URL.
    const url = URL.parse(request.url)
    if (url === null) return refuse(400, 'The request names no host, or several.')
    // Without a server the function says that there is nothing at the address.
    if (SEARCHES.includes(url.pathname) || !env.FUNCTIONS) return search.fetch(request, env)
    try {
      return await askServer(request, toTarget(env.FUNCTIONS, url))
    } catch {
      return refuse(502, 'The server behind this address does not answer.')
    }
  },
}

/**
 * The path is set on the server's own address and never resolved against it: as a relative URL
 * "//attacker/x" is another host (RFC 3986 §4.2), which would get cookies and payments.
 */
function toTarget(server, { pathname, search: query }) {
  const target = new URL(server)
  target.pathname = pathname
  target.search = query
  return target
}

function askServer(request, target) {
  // A redirect is the client's to follow; what pays is sent once.
  const sent = new Request(target, new Request(request, { redirect: 'manual' }))
  // Cloudflare alone knows the visitor. What the visitor says of itself is dropped.
  const visitor = request.headers.get('cf-connecting-ip')
  if (visitor === null) sent.headers.delete('x-forwarded-for')
  else sent.headers.set('x-forwarded-for', visitor)
  return fetch(sent)
}

function refuse(status, sentence) {
  return new Response(`${sentence}\n`, {
    status,
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'",
      'strict-transport-security': 'max-age=63072000',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    },
  })
}
