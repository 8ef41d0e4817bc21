import type { SearchField } from '../domain/search/search-rank.ts'
import { foldText } from './fold-text.ts'
import type { SearchDocument } from './search-document.ts'

/** Texts to analyse and ready terms of one field; the terms don't count into its length. */
export interface FieldInput {
  texts: readonly string[]
  terms: readonly string[]
}

/** Hosts many listings share: their domain says nothing about the listing. */
const SHARED_HOSTS =
  /(?:^|\.)(?:github|gitlab|bitbucket|npmjs|pypi|smithery|glama|vercel|netlify|onrender|railway|fly|workers|pages|herokuapp|replit|huggingface|googleapis|azurewebsites|amazonaws|cloudfront|ngrok|docker|pipedream)\.[a-z.]+$/

/** `io.github.someone/repo` and `someone/repo`: what stands before the slash is a person. */
const NAMESPACED = /^([\w.-]+)\/([\w.@-]+)$/

/** All texts of a document, in the order of the fields they belong to. */
export function documentTexts(document: SearchDocument): string[] {
  const [, , repository] = NAMESPACED.exec(document.name) ?? []
  const { name, tags, categories, summary } = document
  return [repository ?? name, ...tags, ...categories, summary]
}

/** What each field of the text score is made of (contract §12); ids have a table of their own. */
export function documentFields(document: SearchDocument): Record<SearchField, FieldInput> {
  const [, owner, repository] = NAMESPACED.exec(document.name) ?? []
  return {
    name: {
      texts: [repository ?? document.name],
      terms: hostTerms(document.url),
    },
    labels: { texts: [...document.tags, ...document.categories], terms: [] },
    summary: { texts: [document.summary], terms: owner ? ownerTerms(owner) : [] },
  }
}

/** The host, and the domain below it; a shared host only as a whole. */
function hostTerms(url: string): string[] {
  const host = URL.parse(url)?.hostname.replace(/^www\./, '') ?? ''
  if (host === '') return []
  const domain = host.split('.').slice(-2).join('.')
  return SHARED_HOSTS.test(host) || domain === host ? [host] : [host, domain]
}

/** An owner finds its listings, weakly: `github` in `io.github.someone` must not. */
function ownerTerms(owner: string): string[] {
  const folded = foldText(owner)
  const person = folded.split('.').at(-1) ?? folded
  return person === folded || person === '' ? [folded] : [folded, person]
}
