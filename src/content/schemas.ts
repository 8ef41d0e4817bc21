import { toJsonSchema } from '@valibot/to-json-schema'
import type * as v from 'valibot'
import { CompareFactsSchema } from '../domain/compare/compare-view.ts'
import { TablesSchema } from '../domain/derived/tables.ts'
import { createWrittenFactsSchema, type ListingFacts } from '../domain/listing/listing-facts.ts'
import { EvidenceSchema } from '../domain/trust/evidence.ts'
import { toTableFile } from './tables.ts'

/** The help that an editor shows for a field of a listing. */
const LISTING_HELP: Record<keyof ListingFacts, string> = {
  name: 'As the seller writes it. One line; no markup is needed and none is interpreted.',
  kind: 'Its kind: an HTTP API, an MCP server, an A2A agent, or a kit.',
  url: 'Where an agent reaches it: https, a public host, no port, nothing left to fill in.',
  summary: 'One sentence: what it does for the caller.',
  categories: 'Ids from tables/categories.yaml.',
  tags: 'Words people search for that are not in the name or the summary.',
  first_party: 'True on kits of this directory itself: shown apart, never ranked.',
  tasks: 'Ids of tables/tasks.yaml: what it does as a whole, where no operation or tool says so.',
  closed: 'True when the seller does not want to be called through the relay.',
  pricing: 'What one call costs in US dollars, or { model: unknown }.',
  payout: 'Published payout addresses, CAIP-10.',
  payout_source:
    'The page of the seller’s own site that publishes these payouts. Without it, payments to them do not count.',
  cost: 'Whether its use is free or paid; if left out, a price on a rail means paid.',
  auth: 'What a caller must have before the first call, and where it goes.',
  http: 'What is called over HTTP: parameters, an example of each, price and offers.',
  tools: 'Tools of an MCP server: names and parameters are facts, sentences our own.',
  skills: 'Skills of an A2A agent: names and parameters are facts, sentences our own.',
  invoke: 'How to reach an MCP server: remotes and packages.',
  registry_name: 'Its name in the official MCP registry; the importer writes it.',
  version: 'The one version that these facts describe.',
  probe: 'False asks our probes to stay away.',
  discovery: "The seller's own machine-readable files, where they exist.",
  sources: 'Where these facts come from: ids from tables/sources.yaml, each with its page.',
  added: 'The day this file was written.',
}

/** @returns the text of each schema file in `content/schema`, as it is committed */
export function toSchemaFiles(): { name: string; text: string }[] {
  const tables = Object.entries(TablesSchema.entries).map(
    ([table, schema]) => [toTableFile(table), toContentSchema(schema)] as const,
  )
  const schemas = Object.entries({
    listing: toListingSchema(),
    evidence: toContentSchema(EvidenceSchema),
    compare: toContentSchema(CompareFactsSchema),
    ...Object.fromEntries(tables),
  })
  return schemas.map(([name, schema]) => ({
    name: `${name}.schema.json`,
    text: `${JSON.stringify(schema, null, 2)}\n`,
  }))
}

function toListingSchema() {
  const schema = toContentSchema(createWrittenFactsSchema({ allowPrivate: false }))
  const properties = Object.entries(schema.properties ?? {}).map(([key, property]) => {
    const help = Object.entries(LISTING_HELP).find(([name]) => name === key)?.[1]
    return [key, { description: help, ...(typeof property === 'object' ? property : {}) }]
  })
  return { ...schema, properties: Object.fromEntries(properties) }
}

/**
 * `input` is the shape that people write, in which fields with a default may be omitted. Rules in
 * code (a URL's host, a date's calendar) have no counterpart; `npm run check` applies them.
 */
function toContentSchema(schema: v.GenericSchema) {
  const { $schema, ...rest } = toJsonSchema(schema, {
    errorMode: 'ignore',
    typeMode: 'input',
    target: 'draft-2020-12',
  })
  return { $schema, ...rest }
}
