import { request as connect } from 'node:http'

/** What the program's user told it. */
const REPORTED: Record<string, string> = {
  RECIPIENT_EMAIL: 'ada@lovelace.example',
  DATABASE_URI: 'postgresql://ada@localhost:5432/engines',
}

export interface ReportedRequest {
  method: string
  url: string
  headers?: Record<string, string>
  body?: unknown
}

/** Puts what the user said where a kit left a `<PLACEHOLDER>`; what nobody said stays. */
export function fillIn(text: string): string {
  return text.replace(/<([A-Z0-9_]+)>/g, (place, name: string) => REPORTED[name] ?? place)
}

/** Sends a request, filled in, to the double of whomever its URL names. @param port of the doubles */
export function sendReported(port: number, { method, url, headers = {}, body }: ReportedRequest) {
  const { host, pathname, search: query } = new URL(fillIn(url))
  return new Promise<{ status: number | undefined; answer: Record<string, string> }>(
    (resolve, reject) => {
      const sent = connect({
        host: '127.0.0.1',
        port,
        method,
        path: pathname + query,
        headers: { ...headers, Host: host },
      })
      sent.on('error', reject).on('response', (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk
        })
        response.on('end', () => {
          resolve({ status: response.statusCode, answer: JSON.parse(text) })
        })
      })
      sent.end(body === undefined ? undefined : fillIn(JSON.stringify(body)))
    },
  )
}
