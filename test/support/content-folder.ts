import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { tempFolder } from './temp-folder.ts'

/** A content folder in a temporary place. */
export interface ContentFolder {
  dir: string
  write(file: string, content: string | Uint8Array): void
}

/** The tasks of the directory itself, for who names one. */
export const OWN_TASKS = Object.fromEntries(
  ['tables/tasks.yaml', 'tables/task-words.yaml'].map((file) => [
    file,
    readFileSync(`content/${file}`),
  ]),
)

export function createContentFolder(
  files: Record<string, string | Uint8Array> = {},
): ContentFolder {
  const dir = tempFolder('content')
  const write = (file: string, content: string | Uint8Array) => {
    mkdirSync(dirname(join(dir, file)), { recursive: true })
    writeFileSync(join(dir, file), content)
  }
  mkdirSync(join(dir, 'listings'))
  // What every directory must bring itself; our own tasks are long, and read at every look.
  for (const table of ['site', 'categories', 'sources'])
    write(`tables/${table}.yaml`, readFileSync(`content/tables/${table}.yaml`))
  write('tables/tasks.yaml', '[]\n')
  // Without one a directory has ours: a megabyte, which takes a tenth of a second at every look.
  write('tables/foreign-words.yaml', 'languages: [de]\nstop: {}\nwords: {}\n')
  for (const [file, content] of Object.entries(files)) write(file, content)
  return { dir, write }
}

/** A sound listing; `changes` replaces or adds lines of the front matter by key, null removes one. */
export function listingText(changes: Record<string, string | null> = {}): string {
  const facts: Record<string, string | null> = {
    name: 'Example Weather',
    kind: 'http_api',
    url: 'https://api.weather.example/now',
    summary: 'Weather by coordinates.',
    categories: '[geo_weather]',
    pricing:
      '{ model: per_call, min_usd: 0.01, max_usd: 0.05, rails: [x402], networks: ["eip155:8453"] }',
    sources: '[{ source: vendor_docs, ref: "https://docs.weather.example/" }]',
    added: '2026-11-20',
    ...changes,
  }
  // A payout counts for nothing without a page of the seller's that names it.
  if (facts.payout) facts.payout_source ??= facts.url ?? null
  const lines = Object.entries(facts).flatMap(([key, value]) =>
    value === null ? [] : [`${key}: ${value}`],
  )
  return `---\n${lines.join('\n')}\n---\n\nA description.\n`
}
