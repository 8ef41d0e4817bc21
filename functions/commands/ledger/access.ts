import { OperatorError } from '../../../src/domain/wire/problems.ts'
import { DAY_MS } from '../../../src/domain/wire/shapes.ts'
import { readCommandLine, runCommand, wrongCommand } from '../../ports/run-main.ts'
import { createSecret, hashSecret } from '../../sellers/sign-in.ts'
import { openStore } from '../../store/open-store.ts'
import type { Store } from '../../store/store.ts'

const HELP = `Usage: npm run access -- add <name> [--days N] | list | remove <name>
A token gives access to a directory that runs with READ_ACCESS=token. The token is shown once; the ledger keeps its hash.`

await runCommand(async (config, log) => {
  const { words, values } = readCommandLine(HELP, { days: { type: 'string' } } as const, 2)
  const [action = '', name = ''] = words
  const days = values.days === undefined ? null : Number(values.days)
  const isSound = days === null || (days > 0 && days <= 3650)
  if (!isSound) throw wrongCommand(HELP, '--days: expected a number above 0 and at most 3650')
  if (action !== 'list' && name.trim() === '') throw wrongCommand(HELP, 'expected a name')
  await using store = await openStore(config, log)
  if (action === 'add') return await add(store, name, days)
  if (action === 'remove') return await remove(store, name)
  if (action === 'list') return await list(store)
  throw wrongCommand(HELP, `expected add, list or remove, got ${action}`)
})

async function add({ db }: Store, name: string, days: number | null): Promise<string> {
  const token = createSecret()
  const created_at = Date.now()
  const expires_at = days === null ? null : created_at + days * DAY_MS
  const row = { name, token_hash: hashSecret(token), created_at, expires_at }
  const added = await db
    .insertInto('access_token')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  if (Number(added.numInsertedOrUpdatedRows ?? 0) === 0)
    throw new OperatorError(`${name} already has a token: remove that token first`)
  return token
}

async function remove({ db }: Store, name: string): Promise<string> {
  const { numDeletedRows } = await db
    .deleteFrom('access_token')
    .where('name', '=', name)
    .executeTakeFirst()
  if (Number(numDeletedRows) === 0)
    throw new OperatorError(`expected the name of an existing token, got ${name}`)
  return `The token of ${name} no longer works; servers forget it within seconds.`
}

async function list({ db }: Store): Promise<string> {
  const rows = await db.selectFrom('access_token').selectAll().orderBy('name').execute()
  const day = (at: number | null) =>
    at === null ? 'never' : new Date(at).toISOString().slice(0, 10)
  const lines = rows.map(
    (row) => `${row.name}\tsince ${day(row.created_at)}\tends ${day(row.expires_at)}`,
  )
  return lines.join('\n') || 'No tokens yet.'
}
