import { promises as dns, lookup } from 'node:dns'
import { promisify } from 'node:util'

/** One A or AAAA answer. */
export interface ResolvedAddress {
  address: string
  family: 4 | 6
}

/**
 * Names to addresses and TXT records, as a port. `addresses` gives every A and AAAA answer and
 * rejects (Node's DNS error codes) when there is none; `txt` gives each record as its strings.
 */
export interface Resolver {
  addresses(host: string): Promise<ResolvedAddress[]>
  txt(host: string): Promise<string[][]>
}

/** Two tries of two seconds: within the relay's ten seconds to connect. */
const DNS_OPTIONS = { timeout: 2000, tries: 2 }

const lookupAll = promisify(lookup)

/**
 * @param servers `DNS_SERVERS`, or undefined for the system's own way (which also knows its hosts
 *   file; TXT then goes to the system's name servers).
 */
export function createResolver(servers: readonly string[] | undefined): Resolver {
  const resolver = new dns.Resolver(DNS_OPTIONS)
  if (servers !== undefined) resolver.setServers(servers)
  return {
    async addresses(host) {
      // RFC 6761 §6.3: localhost never leaves the machine.
      if (isLocalhost(host))
        return [
          { address: '127.0.0.1', family: 4 },
          { address: '::1', family: 6 },
        ]
      return servers === undefined ? systemAddresses(host) : serverAddresses(resolver, host)
    },
    txt: (host) => resolver.resolveTxt(host),
  }
}

function isLocalhost(host: string): boolean {
  return /^(?:.+\.)?localhost\.?$/i.test(host)
}

async function systemAddresses(host: string): Promise<ResolvedAddress[]> {
  const found = await lookupAll(host, { all: true, order: 'verbatim' })
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }))
}

async function serverAddresses(resolver: dns.Resolver, host: string): Promise<ResolvedAddress[]> {
  const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const found: ResolvedAddress[] = []
  if (four.status === 'fulfilled')
    found.push(...four.value.map((address) => ({ address, family: 4 as const })))
  if (six.status === 'fulfilled')
    found.push(...six.value.map((address) => ({ address, family: 6 as const })))
  if (found.length === 0 && four.status === 'rejected') throw four.reason
  return found
}
