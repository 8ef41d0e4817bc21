import type { ListingView } from '../views/listing-view.ts'
import { callPath } from '../wire/links.ts'
import { chooseOperation } from './kit-operations.ts'
import type { KitView } from './kit-view.ts'

/** A listing as documents may show it. */
interface Candidate {
  id: string
  /** Null where the relay calls it. */
  relay_reason: string | null
  brief: Pick<ListingView, 'name' | 'first_party'>
  kit: KitView
}

/** What documents show as the way from a question to a call: all of it is about one listing. */
export interface FirstCall {
  id: string
  /** What a search with the rail of relayed listings, or without any where none is, has first. */
  words: string
  /** The relay's address of one operation; null where no listing is relayed. */
  call: string | null
}

/**
 * A listing that the relay calls by GET with an address that needs nothing filled in, else one that
 * it calls, else any. A search puts a listing first by its whole name where no other has that, and
 * always by its id.
 */
export function toFirstCall(all: readonly Candidate[], baseUrl: string): FirstCall | undefined {
  const listings = all.filter(({ brief }) => !brief.first_party)
  const relayed = listings.filter(({ relay_reason }) => relay_reason === null)
  const found = relayed.length > 0 ? relayed : listings
  const chosen = found.find((each) => findPlainCall(each) !== null) ?? found[0]
  if (chosen === undefined) return undefined
  const { id, relay_reason, brief } = chosen
  const isOnly = found.filter((each) => isSameName(each, chosen)).length === 1
  const relay = relay_reason === null ? `${baseUrl}${callPath(id)}` : null
  return { id, words: isOnly ? brief.name : id, call: findPlainCall(chosen) ?? relay }
}

function findPlainCall({ relay_reason, kit }: Candidate): string | null {
  const { method, relay_url } = chooseOperation(kit.operations, 'x402')?.example ?? {}
  const isPlain = relay_reason === null && method === 'GET' && relay_url !== undefined
  return isPlain && !/[<{']/.test(relay_url) ? relay_url : null
}

function isSameName({ brief: a }: Candidate, { brief: b }: Candidate): boolean {
  return a.name.toLowerCase() === b.name.toLowerCase()
}

/** The search that has it first. */
export function toFirstSearch(
  { words, call }: FirstCall,
  more: Readonly<Record<string, string>>,
): string {
  const rail = call === null ? {} : { rail: 'x402' }
  return `/api/v1/search?${new URLSearchParams({ q: words, ...rail, ...more })}`
}

/** Before anybody is refused: the relay answers 422 where the wallet's rail is not sold. */
export const RAILS_DECIDE =
  'The rails of a listing say how it is paid, not the prefix of its id: every paid HTTP service begins with x402., and one whose rails are mpp alone takes no x402 wallet.'
