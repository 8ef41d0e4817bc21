import type { SearchField } from '../domain/search-rank.ts'
import { foldText } from './fold-text.ts'
import { ALIAS_MARK } from './index-tokens.ts'
import type { SearchDocument } from './search-document.ts'

/** Texts and ready tokens of one field. */
export interface FieldInput {
  texts: readonly string[]
  tokens: readonly string[]
}

/** Hosts many listings share: their name says nothing about the listing. */
const SHARED_HOSTS =
  /(?:^|\.)(?:github|gitlab|bitbucket|npmjs|pypi|smithery|glama|vercel|netlify|onrender|railway|fly|workers|pages|herokuapp|replit|huggingface|googleapis|azurewebsites|amazonaws|cloudfront|ngrok|docker|pipedream)\.[a-z.]+$/

/** `io.github.someone/repo` and `someone/repo`: the part before the slash names a person. */
const NAMESPACED = /^[\w.-]+\/([\w.@-]+)$/

/** What each field of the text score is made of (contract §12; ids and domains are searchable). */
export function documentFields(document: SearchDocument): Record<SearchField, FieldInput> {
  const host = hostOf(document.url)
  const repository = NAMESPACED.exec(document.name)?.[1]
  return {
    name: {
      texts: [repository ?? document.name],
      tokens: [document.id, ...hostTokens(host)].map((token) => ALIAS_MARK + token),
    },
    labels: { texts: [...document.tags, ...document.categories], tokens: [] },
    summary: {
      texts: [document.summary],
      tokens: repository === undefined ? [] : ownerTokens(document.name),
    },
  }
}

function hostOf(url: string): string {
  return URL.parse(url)?.hostname.replace(/^www\./, '') ?? ''
}

/** The host as a whole, the domain under its suffix, and the word people call the company by. */
function hostTokens(host: string): string[] {
  if (!host.includes('.') || SHARED_HOSTS.test(host)) return host === '' ? [] : [host]
  const labels = host.split('.')
  const domain = labels.slice(-2).join('.')
  return domain === host ? [host] : [host, domain]
}

function ownerTokens(name: string): string[] {
  const owner = name.slice(0, name.indexOf('/'))
  return [ALIAS_MARK + foldText(owner), ALIAS_MARK + foldText(owner.split('.').at(-1) ?? '')]
}
