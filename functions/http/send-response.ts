import type { ServerResponse } from 'node:http'

/** Writes a small, complete Response to a Node response; used where no h3 event exists yet. */
export async function sendResponse(res: ServerResponse, response: Response): Promise<void> {
  const body = Buffer.from(await response.arrayBuffer())
  const headers = Object.fromEntries(response.headers)
  res.writeHead(response.status, { ...headers, 'content-length': body.length })
  res.end(res.req.method === 'HEAD' ? undefined : body)
}
