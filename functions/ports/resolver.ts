import { promises as dns } from 'node:dns'
import { type AddressLookup, createAddressLookup, type ResolvedAddress } from './address-lookup.ts'
import { createHostsFile, type HostsFile } from './hosts-file.ts'

/**
 * Names to addresses and TXT records, as a port. `addresses` gives every A and AAAA answer and
 * rejects (Node's DNS error codes) when there is none; `txt` gives each record as its strings, none as
 * an empty list.
 */
export interface Resolver {
  addresses(host: string): Promise<ResolvedAddress[]>
  txt(host: string): Promise<string[][]>
}

/** Name servers answered, but not the same: one of them may be lying, or the record still spreads. */
export class ResolversDisagreeError extends Error {
  override name = 'ResolversDisagreeError'
}

/** Two tries of two seconds: within the relay's ten seconds to connect. */
const DNS_OPTIONS = { timeout: 2000, tries: 2 }

/**
 * @param servers `DNS_SERVERS`, or undefined for the system's own: its hosts file, then the name
 *   servers of its resolv.conf.
 */
export function createResolver(
  servers: readonly string[] | undefined,
  lookup: AddressLookup = createAddressLookup(servers),
  hostsFile: HostsFile = servers === undefined ? createHostsFile() : async () => [],
): Resolver {
  return {
    async addresses(host) {
      // RFC 6761 §6.3: localhost never leaves the machine.
      if (isLocalhost(host))
        return [
          { address: '127.0.0.1', family: 4 },
          { address: '::1', family: 6 },
        ]
      const own = await hostsFile(host)
      return own.length > 0 ? [...own] : lookup(host)
    },
    txt: createAgreedTxt(servers),
  }
}

/** How many name servers must give a record before it is believed, where so many are configured. */
const QUORUM = 2

/**
 * TXT records that two servers give. Each server is asked by itself: a list handed to one resolver is
 * only a list of substitutes, and whoever can spoof one answer could take over a listing.
 */
function createAgreedTxt(servers: readonly string[] | undefined): Resolver['txt'] {
  const resolvers = (servers ?? [null]).map((server) => {
    const resolver = new dns.Resolver(DNS_OPTIONS)
    if (server !== null) resolver.setServers([server])
    return resolver
  })
  const needed = Math.min(QUORUM, resolvers.length)
  return async (host) => {
    const asked = await Promise.allSettled(resolvers.map((resolver) => txtOrNone(resolver, host)))
    const answers = asked
      .filter((answer) => answer.status === 'fulfilled')
      .map(({ value }) => value)
    const failure = asked.find((answer) => answer.status === 'rejected')
    if (answers.length < needed && failure !== undefined) throw failure.reason
    const agreed = distinctRecords(answers).filter(
      (record) => answers.filter((answer) => hasRecord(answer, record)).length >= needed,
    )
    if (agreed.length === 0 && answers.some((answer) => answer.length > 0))
      throw new ResolversDisagreeError(`name servers disagree about ${host}`)
    return agreed
  }
}

/** "There is none" is an answer too. */
async function txtOrNone(resolver: dns.Resolver, host: string): Promise<string[][]> {
  try {
    return await resolver.resolveTxt(host)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOTFOUND' || code === 'ENODATA') return []
    throw error
  }
}

function distinctRecords(answers: string[][][]): string[][] {
  const byText = new Map(answers.flat().map((record) => [record.join(''), record]))
  return [...byText.values()]
}

function hasRecord(answer: string[][], record: string[]): boolean {
  return answer.some((other) => other.join('') === record.join(''))
}

function isLocalhost(host: string): boolean {
  return /^(?:.+\.)?localhost\.?$/i.test(host)
}
