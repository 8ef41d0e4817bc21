import type { RequestListener } from 'node:http'
import { gzipSync } from 'node:zlib'

/** One way of being a bad answer, and what a prober may make of it. */
export interface HostileSite {
  name: string
  answer: RequestListener
  /** Only a deadline ends it. */
  isEndless?: true
}

const json = { 'content-type': 'application/json' }

/** Sellers that answer anything but what was asked, in HTTP all the same. */
export const HOSTILE_SITES: HostileSite[] = [
  { name: 'answers nothing for ever', isEndless: true, answer: () => {} },
  {
    name: 'sends interim answers for ever',
    isEndless: true,
    answer: (_req, res) => {
      const timer = setInterval(() => res.writeEarlyHints({ link: '</a>; rel=preload' }), 5)
      res.on('close', () => clearInterval(timer))
    },
  },
  {
    name: 'drips a body byte by byte',
    isEndless: true,
    answer: (_req, res) => {
      res.writeHead(200, json)
      const timer = setInterval(() => res.write(' '), 5)
      res.on('close', () => clearInterval(timer))
    },
  },
  {
    name: 'never ends its body',
    answer: (_req, res) => {
      res.writeHead(200, json)
      const pump = () => {
        while (!res.destroyed && res.write('x'.repeat(65_536))) {}
      }
      res.on('drain', pump)
      pump()
    },
  },
  {
    name: 'never ends its events',
    answer: (_req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      const pump = () => {
        while (!res.destroyed && res.write('event: message\ndata: {"jsonrpc":"2.0"}\n\n')) {}
      }
      res.on('drain', pump)
      pump()
    },
  },
  {
    name: 'sends a gzip bomb',
    answer: (_req, res) => {
      res.writeHead(200, { ...json, 'content-encoding': 'gzip' })
      res.end(BOMB)
    },
  },
  {
    name: 'sends broken gzip',
    answer: (_req, res) => {
      res.writeHead(200, { ...json, 'content-encoding': 'gzip' })
      res.end('no gzip at all')
    },
  },
  {
    name: 'nests lists a hundred thousand times',
    answer: (_req, res) => {
      res.writeHead(402, json)
      res.end(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)
    },
  },
  {
    name: 'nests objects in the terms',
    answer: (_req, res) => {
      res.writeHead(402, json)
      res.end(`{"x402Version":1,"accepts":[${'{"a":'.repeat(90_000)}1${'}'.repeat(90_000)}]}`)
    },
  },
  {
    name: 'sends a page of HTML',
    answer: (_req, res) => {
      res.writeHead(200, { 'content-type': 'text/html' })
      res.end('<h1>402</h1>')
    },
  },
  {
    name: 'breaks the connection in its body',
    answer: (_req, res) => {
      res.writeHead(200, { ...json, 'content-length': '1000' })
      res.write('{"jsonrpc":')
      setTimeout(() => res.socket?.destroy(), 10)
    },
  },
  {
    name: 'names itself in control characters',
    answer: (_req, res) => {
      res.writeHead(302, { location: 'https://elsewhere.example/%1b[2J' })
      res.end()
    },
  },
]

/** 64 MiB of zeros in 64 KiB. */
const BOMB = gzipSync(Buffer.alloc(64 * 1024 * 1024))
