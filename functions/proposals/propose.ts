import { randomBytes } from 'node:crypto'
import { findUrlFault } from '../../src/domain/listing/target-url.ts'
import { toInertLine } from '../../src/domain/probe/read/inert-text.ts'
import {
  type FoundService,
  hasFound,
  PROPOSABLE_KINDS,
  toFoundNothing,
} from '../../src/domain/proposals/found-service.ts'
import {
  MAX_NOTE_LENGTH,
  type ProposalAnswer,
  type ProposalBody,
} from '../../src/domain/proposals/proposal-views.ts'
import type { Refused } from '../../src/domain/wire/form-page.ts'
import { refuse, takeTurn } from '../forms/form.ts'
import { isOwnHost } from '../net/own-address.ts'
import { privateTargetsOf } from '../net/purposes.ts'
import type { Parts } from '../parts/parts.ts'
import type { Caller, StrangerRuns } from '../probe/stranger-runs.ts'
import type { Release } from '../release/release.ts'
import { parseEmailAddress } from '../sellers/sessions/email-address.ts'
import { type Looked, lookAtService } from './look-at-service.ts'
import {
  type AddedProposal,
  addProposal,
  findProposal,
  findWaitingAt,
  MAX_WAITING,
  toProposalView,
} from './proposal-store.ts'

export type Propose = (body: ProposalBody, caller: Caller) => Promise<ProposalAnswer | Refused>

const OF_URL = { field: 'url' }

type ProposeParts = Pick<Parts, 'config' | 'limits' | 'clock' | 'ledger' | 'release'>

/**
 * Takes a proposal: looks at its address and puts what it found where people decide. Nothing goes
 * live by itself; the proposer's address is stored until the decision and written nowhere else.
 */
export function createPropose(parts: ProposeParts, runs: StrangerRuns): Propose {
  const { release, ledger } = parts
  const now = () => parts.clock.now()
  return async function propose(body, caller) {
    const wrong = findWrong(parts, body)
    if (wrong !== null) return wrong
    const refused = await takeTurn(parts, 'propose', 'proposals', caller)
    if (refused !== null) return refused
    const listed = findListed(release(), body.url)
    if (listed?.kind === 'listed') return (await correct(parts, body, listed.listing_id)) ?? listed
    if (listed !== null) return listed
    const waiting = await findWaitingAt(ledger.store.db, body.url)
    if (waiting !== undefined) return { kind: 'proposal', proposal: toProposalView(waiting) }
    const looked = await runs.run(body.url, caller, (client) => lookAtService(body, client, now))
    if ('kind' in looked) return { ...looked, kind: 'refused', code: 'rate-limited' }
    // Nothing more was asked then: what was found is not all there is.
    if (caller.signal.aborted) looked.unreachable ??= 'the client hung up'
    return addLooked(parts, body, looked)
  }
}

async function addLooked(
  { ledger, clock }: ProposeParts,
  { url, note = '', email }: ProposalBody,
  { found, unreachable }: Looked,
): Promise<ProposalAnswer | Refused> {
  const words = toInertLine(note, MAX_NOTE_LENGTH)
  if (unreachable !== null)
    return refuse('nothing-found', `The address could not be reached: ${unreachable}.`, OF_URL)
  if (!hasFound(found) && words === '')
    return refuse(
      'nothing-found',
      `Nothing at this address or beside it says what it is (${found.saw}). Say in note what it does and what it costs, or publish openapi.json, llms.txt or an agent card.`,
      OF_URL,
    )
  return add({ ledger, clock }, { url, note: words, email }, found)
}

/** What to change about a listing, in words: nobody is asked, a person reads it. Null without words. */
async function correct(
  { ledger, clock, release }: ProposeParts,
  { note = '', email }: ProposalBody,
  listing_id: string,
): Promise<ProposalAnswer | Refused | null> {
  const words = toInertLine(note, MAX_NOTE_LENGTH)
  const listing = release().listings.get(listing_id)
  if (words === '' || listing === undefined) return null
  const { url, kind } = listing
  const found = toFoundNothing({
    url,
    kind: PROPOSABLE_KINDS.find((each) => each === kind) ?? 'http_api',
    at: new Date(clock.now()).toISOString(),
  })
  return add({ ledger, clock }, { url, note: words, email, listing_id }, found)
}

async function add(
  { ledger, clock }: Pick<ProposeParts, 'ledger' | 'clock'>,
  { email, ...rest }: { url: string; note: string; email: string | undefined; listing_id?: string },
  found: FoundService,
): Promise<ProposalAnswer | Refused> {
  const row = {
    ...rest,
    id: `p${randomBytes(9).toString('hex')}`,
    email: email === undefined ? null : parseEmailAddress(email),
  }
  const { db } = ledger.store
  const added = await addProposal(db, row, found, clock.now())
  const there = 'id' in added ? await findProposal(db, added.id) : undefined
  return there === undefined
    ? refuseFull(added)
    : { kind: 'proposal', proposal: toProposalView(there) }
}

function refuseFull(added: AddedProposal): Refused {
  const reason =
    'full' in added && added.full === 'origin'
      ? 'Several proposals for this host wait already; one listing holds all operations of a service.'
      : `${MAX_WAITING} proposals wait for a person already; try again in a few days.`
  return refuse('proposals-full', reason, { headers: { 'Retry-After': '86400' } })
}

function findWrong({ config }: ProposeParts, { url, email }: ProposalBody): Refused | null {
  const fault = findUrlFault(url, { allowPrivate: privateTargetsOf('stranger', config) })
  if (fault !== null) return refuse('invalid-parameter', `${fault}.`, OF_URL)
  if (isOwnHost(new URL(url), new URL(config.BASE_URL)))
    return refuse(
      'invalid-parameter',
      'expected a service elsewhere: this is our own host.',
      OF_URL,
    )
  // The answer does not repeat what was sent: proxies may log it.
  return email === undefined || parseEmailAddress(email) !== null
    ? null
    : refuse('invalid-parameter', 'expected one plain address such as ann@shop.example.', {
        field: 'email',
      })
}

/** A listing with this very address, or one whose owner asked for it to be left out. */
function findListed(
  { listings, optedOut }: Pick<Release, 'listings' | 'optedOut'>,
  url: string,
): ProposalAnswer | Refused | null {
  const plain = toPlain(url)
  for (const listing of listings.values())
    if (toPlain(listing.url) === plain) return { kind: 'listed', listing_id: listing.id }
  for (const each of optedOut.values())
    if (toPlain(each.url) === plain)
      return refuse('invalid-parameter', 'its owner asked not to be listed.', OF_URL)
  return null
}

/** @example toPlain('https://www.x.example/a/') → 'x.example/a' */
function toPlain(url: string): string {
  return url.replace(/^https?:\/\/(?:www\.)?/i, '').replace(/\/+$/, '')
}
