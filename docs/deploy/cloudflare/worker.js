import search from './search.js'

/** What is no file: searches are answered here, the rest by the server of `FUNCTIONS`. */
const SEARCHES = ['/api/v1/search', '/api/v1/operations']

export default {
  async fetch(request, env) {
    const { pathname, search: query } = new URL(request.url)
    if (SEARCHES.includes(pathname)) return search.fetch(request, env)
    if (!env.FUNCTIONS)
      return Response.json(
        { error: `${pathname} is no file, and FUNCTIONS names no server` },
        { status: 404 },
      )
    // A redirect is the client's to follow; what pays is sent once.
    return fetch(
      new Request(
        new URL(pathname + query, env.FUNCTIONS),
        new Request(request, { redirect: 'manual' }),
      ),
    )
  },
}
