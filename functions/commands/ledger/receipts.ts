import { readCommandLine, runCommand, wrongCommand } from '../../ports/run-main.ts'
import { rotateKeys } from '../../receipts/receipts.ts'
import { openStore } from '../../store/open-store.ts'

const HELP = `Usage: npm run receipts -- rotate
Makes the key that signs receipts from now on. The former key stays published; its secret is deleted.`

await runCommand(async (config, log) => {
  const { words } = readCommandLine(HELP, {} as const, 1)
  if (words[0] !== 'rotate')
    throw wrongCommand(HELP, `expected rotate, got ${words[0] ?? 'nothing'}`)
  await using store = await openStore(config, log)
  const { id } = await rotateKeys(store, Date.now())
  return `${id} signs from now on; running servers use it within half a minute.`
})
