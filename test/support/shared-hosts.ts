import { readTables } from '../../src/compile/content/read-tables.ts'

/** The table the product ships, as a release holds it. */
export const SHARED_HOSTS = readSharedHosts()

function readSharedHosts() {
  const { tables, faults } = readTables('content')
  if (tables === null) throw new Error(`The tables have faults: ${JSON.stringify(faults)}`)
  return tables.sharedHosts
}
