import type { SearchField } from '../../domain/search/search-rank.ts'
import { foldText } from '../words/fold-text.ts'
import type { SearchDocument } from './search-document.ts'

/** Texts to analyse and ready terms of one field; the terms don't count into its length. */
export interface FieldInput {
  texts: readonly string[]
  terms: readonly string[]
}

/** `io.github.someone/repo` and `someone/repo`: what stands before the slash is a person. */
const NAMESPACED = /^([\w.-]+)\/([\w.@-]+)$/

/** All texts of a document, in the order of the fields they belong to. */
export function documentTexts(document: SearchDocument): string[] {
  const [, , repository] = NAMESPACED.exec(document.name) ?? []
  const { name, tags, categories, summary } = document
  return [repository ?? name, ...tags, ...categories, summary]
}

/** What each field of the text score is made of (contract §12); ids and hosts are no text, see `ExactTable`. */
export function documentFields(document: SearchDocument): Record<SearchField, FieldInput> {
  const [, owner, repository] = NAMESPACED.exec(document.name) ?? []
  return {
    name: {
      texts: [repository ?? document.name],
      terms: [],
    },
    labels: { texts: [...document.tags, ...document.categories], terms: [] },
    summary: { texts: [document.summary], terms: owner ? ownerTerms(owner) : [] },
  }
}

/** An owner finds its listings, weakly: `github` in `io.github.someone` must not. */
function ownerTerms(owner: string): string[] {
  const folded = foldText(owner)
  const person = folded.split('.').at(-1) ?? folded
  return person === folded || person === '' ? [folded] : [folded, person]
}
