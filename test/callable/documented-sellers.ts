import { createServer, type IncomingMessage, type Server } from 'node:http'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { listen } from '../call/relay-world.ts'

/**
 * Local doubles of real sellers, written by hand from what each seller documents, never from our
 * listings: a request that they take is one the seller takes. One server plays all; the `Host`
 * header says whom.
 */
export interface DocumentedSellers {
  port: number
  close(): void
}

export const ANSWERED = 'answered as documented'

interface Shape {
  /** Query parameters, as text. */
  query?: object
  body?: object
  headers?: object
  /** 402 to a request in the right shape that carries no payment. */
  paid?: true
  answer?: object
}

const text = { type: 'string', minLength: 1 }
const texts = { type: 'array', minItems: 1, items: text }
const email = { type: 'string', pattern: '^[^@\\s<>]+@[^@\\s<>]+\\.[^@\\s<>]+$' }
const address = { type: 'string', pattern: '^https?://[^\\s<>]+$' }
const domain = { type: 'string', pattern: '^[a-z0-9-]+(\\.[a-z0-9-]+)+$' }
const numberText = { type: 'string', pattern: '^-?\\d+(\\.\\d+)?$' }
const names = { type: 'string', pattern: '^[a-z0-9_]+(,[a-z0-9_]+)*$' }
const json = object(['content-type'], { 'content-type': { const: 'application/json' } }, true)

/** Sources: each seller's public documentation. */
const SHAPES: Record<string, Shape> = {
  // docs.exa.ai, reference: search
  'POST api.exa.ai/search': {
    paid: true,
    headers: json,
    body: object(['query'], {
      query: text,
      type: { enum: ['auto', 'neural', 'keyword', 'fast', 'deep'] },
      numResults: { type: 'integer', minimum: 1, maximum: 100 },
      includeDomains: texts,
      excludeDomains: texts,
      contents: { type: 'object' },
    }),
  },
  // open-meteo.com/en/docs
  'GET api.open-meteo.com/v1/forecast': {
    query: object(['latitude', 'longitude'], {
      latitude: numberText,
      longitude: numberText,
      current: names,
      hourly: names,
      daily: names,
      timezone: text,
      forecast_days: numberText,
    }),
  },
  // jina.ai/reader: the address in a JSON body
  'POST r.jina.ai/': { headers: json, body: object(['url'], { url: address }) },
  // github.com/Merit-Systems/agentcash-skills: email
  'POST stableemail.dev/api/send': {
    paid: true,
    headers: json,
    body: {
      ...object(['to', 'subject'], {
        to: { type: 'array', minItems: 1, items: email },
        subject: text,
        text,
        html: text,
        replyTo: email,
        attachments: { type: 'array', maxItems: 5 },
      }),
      anyOf: [{ required: ['text'] }, { required: ['html'] }],
    },
  },
  // github.com/Merit-Systems/agentcash-skills: media generation
  'POST stablestudio.dev/api/generate/nano-banana/generate': {
    paid: true,
    headers: json,
    body: object(['prompt'], { prompt: text, aspectRatio: { enum: ['1:1', '16:9', '9:16'] } }),
  },
  // abstractapi.com, company enrichment, as paywithlocus.com wraps it: a JSON body
  'POST abstract-company-enrichment.mpp.paywithlocus.com/abstract-company-enrichment/lookup': {
    paid: true,
    headers: json,
    body: object(['domain'], { domain, fields: names }),
  },
  // docs.peopledatalabs.com, company enrichment: at least one of the identifying parameters
  'GET mpp.orthogonal.com/peopledatalabs/v5/company/enrich': {
    paid: true,
    query: {
      ...object([], {
        website: domain,
        name: text,
        profile: text,
        ticker: text,
        pdl_id: text,
        min_likelihood: numberText,
      }),
      minProperties: 1,
    },
  },
  // github.com/firecrawl/firecrawl-docs: scrape of v1, as Tempo's gateway passes it on
  'POST firecrawl.mpp.tempo.xyz/v1/scrape': {
    paid: true,
    headers: json,
    body: object(['url'], {
      url: address,
      formats: {
        ...texts,
        items: { enum: ['markdown', 'html', 'rawHtml', 'links', 'screenshot'] },
      },
    }),
  },
  // github.com/orthogonal-sh/skills: olostep; docs.olostep.com, scrapes
  'POST mpp.orthogonal.com/olostep/v1/scrapes': {
    paid: true,
    headers: json,
    body: object(['url_to_scrape'], {
      url_to_scrape: address,
      formats: {
        ...texts,
        items: { enum: ['html', 'markdown', 'text', 'json', 'raw_pdf', 'screenshot'] },
      },
      wait_before_scraping: { type: 'integer' },
      country: text,
      remove_images: { type: 'boolean' },
    }),
  },
  // Seltz's OpenAPI document (1.3.0), search, under the same path at orthogonal.com
  'POST mpp.orthogonal.com/seltz/v1/search': {
    paid: true,
    headers: json,
    body: object(['query'], {
      query: text,
      max_results: { type: ['integer', 'null'] },
      from_date: { type: ['string', 'null'] },
      to_date: { type: ['string', 'null'] },
      include_domains: texts,
      exclude_domains: texts,
      scope: { type: ['string', 'null'] },
    }),
  },
  // github.com/prassanna-ravishankar/a2a-registry: the published card, of protocol 0.3
  'GET api.lifie.ai/a2a/cmg84odye06kbuat8sgi7cvfn/agent-card.json': {
    answer: {
      protocolVersion: '0.3.0',
      name: 'Swaneer Group',
      url: 'https://hub.lifie.ai/agent/cmg84odye06kbuat8sgi7cvfn/swaneer-group',
      defaultInputModes: ['text/plain'],
    },
  },
  // a2a-protocol.org, version 0.3: message/send over JSON-RPC
  'POST hub.lifie.ai/agent/cmg84odye06kbuat8sgi7cvfn/swaneer-group': {
    headers: json,
    body: object(['jsonrpc', 'id', 'method', 'params'], {
      jsonrpc: { const: '2.0' },
      id: { type: ['integer', 'string'] },
      method: { const: 'message/send' },
      params: object(['message'], {
        message: object(['kind', 'messageId', 'role', 'parts'], {
          kind: { const: 'message' },
          messageId: text,
          role: { const: 'user' },
          parts: {
            type: 'array',
            minItems: 1,
            items: object(['kind', 'text'], { kind: { const: 'text' }, text }),
          },
        }),
      }),
    }),
  },
}

function object(required: string[], properties: object, isOpen = false) {
  return { type: 'object', required, properties, additionalProperties: isOpen }
}

export async function openDocumentedSellers(): Promise<DocumentedSellers> {
  const server: Server = createServer((req, res) => {
    let body = ''
    req.setEncoding('utf8').on('data', (chunk) => {
      body += chunk
    })
    req.on('end', () => {
      const { status, answer } = judge(req, body)
      res.writeHead(status, { 'Content-Type': 'application/json' })
      res.end(JSON.stringify(answer))
    })
  })
  const port = await listen(server)
  return { port, close: () => server.close() }
}

function judge(req: IncomingMessage, body: string): { status: number; answer: object } {
  const url = new URL(req.url ?? '/', `https://${req.headers.host}`)
  const route = `${req.method} ${url.host}${url.pathname}`
  const shape = SHAPES[route]
  if (shape === undefined) return { status: 404, answer: { fault: `nobody documents ${route}` } }
  const fault =
    findFault(shape.query ?? object([], {}), Object.fromEntries(url.searchParams)) ??
    findFault(shape.headers ?? {}, req.headers) ??
    findBodyFault(shape.body, body)
  if (fault !== null) return { status: 400, answer: { fault } }
  if (shape.paid === true) return { status: 402, answer: { accepts: [] } }
  return { status: 200, answer: shape.answer ?? { stated: ANSWERED } }
}

function findBodyFault(shape: object | undefined, body: string): string | null {
  if (shape === undefined) return body === '' ? null : 'no body is documented'
  try {
    return findFault(shape, JSON.parse(body))
  } catch {
    return 'the body is not JSON'
  }
}

function findFault(schema: object, value: unknown): string | null {
  const ajv = new Ajv2020({ allErrors: true, strict: false })
  return ajv.validate(schema, value) ? null : ajv.errorsText()
}
