import type { LedgerFacts } from '../../domain/trust/ledger-facts.ts'
import type { Content } from '../content/read-content.ts'
import { createCatalogue } from '../derive/catalogue.ts'
import { createReleaseWriter } from '../files/release-writer.ts'
import { toCompiledListings, toCompiledSite, writeCompiled } from './write-compiled.ts'

export interface CompileOptions {
  content: Content
  /** Receives what `src/compiled.ts` reads. */
  dir: string
  baseUrl: string
  allowPrivate: boolean
  ledger: LedgerFacts
}

/** Compiles only what pages read, for the development server. */
export function compileForPages({
  content,
  dir,
  baseUrl,
  allowPrivate,
  ledger,
}: CompileOptions): void {
  const catalogue = createCatalogue(content, { baseUrl, rules: { allowPrivate }, ledger })
  writeCompiled(createReleaseWriter(dir), toCompiledSite(catalogue), [
    ...toCompiledListings(catalogue),
  ])
}
