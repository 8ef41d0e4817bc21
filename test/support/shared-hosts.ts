import { readTables } from '../../src/content/tables.ts'
import { ownDomainOf } from '../../src/domain/sellers/claim-rules.ts'

/** The table the product ships, as a release holds it. */
export const SHARED_HOSTS = readSharedHosts()

function readSharedHosts() {
  const { tables, faults } = readTables('content')
  if (tables === null) throw new Error(`The tables have faults: ${JSON.stringify(faults)}`)
  return tables.sharedHosts
}

/** What a search document says of its address. */
export function domainFact(url: string): { domain?: string } {
  const domain = ownDomainOf(url, SHARED_HOSTS)
  return domain === null ? {} : { domain }
}
