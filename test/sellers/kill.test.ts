import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { createSecret, hashSecret } from '../../functions/sellers/sign-in.ts'
import { openStore } from '../../functions/store/open-store.ts'
import { BARE_ENV } from '../support/fixture-env.ts'
import { IS_LONG } from '../support/long.ts'
import { describeStores, type StorePlace, silentLog } from '../support/stores.ts'

const ROUNDS = IS_LONG ? { sqlite: 10, postgres: 2 } : { sqlite: 1, postgres: 0 }
const TOKENS = 60
const INSTANCE = fileURLToPath(new URL('../support/instance.ts', import.meta.url))

describeStores('signing in while the process is killed', ({ newPlace }) => {
  test('a used token and its session are there both, or neither', async () => {
    const place = await newPlace()
    let used = 0
    for (let round = 0; round < ROUNDS[place.dialect]; round += 1) {
      const tokens = await plantTokens(place, round)
      const signedIn = await redeemUntilKilled(place, [...tokens.keys()])
      const store = await openStore(place.config, silentLog)
      const left = await store.db.selectFrom('login_token').select('email').execute()
      const opened = await store.db
        .selectFrom('session')
        .innerJoin('seller', 'seller.id', 'session.seller_id')
        .select('seller.email')
        .execute()
      await store.close()
      const isLeft = new Set(left.map(({ email }) => email))
      const hasSession = new Set(opened.map(({ email }) => email))
      for (const [token, email] of tokens) {
        expect(hasSession.has(email)).toBe(!isLeft.has(email))
        if (signedIn.has(token)) expect(hasSession.has(email)).toBe(true)
      }
      used += signedIn.size
    }
    expect(used).toBeGreaterThan(0)
  }, 300_000)
})

/** Fresh sign-in tokens, as if their mails had been sent. */
async function plantTokens(place: StorePlace, round: number): Promise<Map<string, string>> {
  const store = await openStore(place.config, silentLog)
  const now = Date.now()
  const tokens = new Map(
    Array.from({ length: TOKENS }, (_, n) => [createSecret(), `r${round}n${n}@shop.example`]),
  )
  const rows = [...tokens].map(([token, email]) => ({
    email,
    token_hash: hashSecret(token),
    created_at: now,
    expires_at: now + 900_000,
  }))
  await store.db.insertInto('login_token').values(rows).execute()
  await store.close()
  return tokens
}

async function redeemUntilKilled(place: StorePlace, tokens: string[]): Promise<Set<string>> {
  const child = spawn(process.execPath, [INSTANCE], {
    env: { ...BARE_ENV, ...place.config, RATE_LIMITS: '{"session":"off"}' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(child.stdout, 'data')
  const url = String(line).trim()
  const signedIn = new Set<string>()
  const redeemed = tokens.map(async (token) => {
    const answer = await fetch(`${url}/api/v1/sellers/session`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ token }),
    }).catch(() => null)
    if (answer?.status !== 200) return
    signedIn.add(token)
    // Some are through and some are under way: the worst moment there is.
    if (signedIn.size === 10) child.kill('SIGKILL')
  })
  await Promise.all(redeemed)
  child.kill('SIGKILL')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return signedIn
}
