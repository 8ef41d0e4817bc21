// Computes trust scores from the published payments.ndjson and payees.json alone,
// following the section "Compute a score yourself" of the trust page.
// Usage: node recompute-trust.mjs payments.ndjson payees.json
import { createReadStream, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const WINDOW_MS = 30 * 86_400_000
const FULL_MONEY = 260_000n // 26 cents vouch for a buyer in full at one listing
const FULL_PART = 1_000_000n
const MEASURED_MONEY = 2_600_000n // what buyers paid a known seller that is measured
const DAY_LIMIT = 200_000n
const CUSTOM_LIMIT = 600_000n
const PAYMENT_LIMIT = 10n
const DOLLAR_LIMIT = 10_000_000n

const smaller = (a, b) => (a < b ? a : b)
const addTo = (map, key, amount) => map.set(key, (map.get(key) ?? 0n) + amount)
const bySize = (a, b) => (a < b ? -1 : 1)
const inCase = (network, text) => (network.startsWith('eip155') ? text.toLowerCase() : text)
const counts = (row, time, asOf) =>
  row.verdict === 'counted' && time <= asOf && time > asOf - WINDOW_MS
const newShop = () => ({ payments: 0n, dollars: 0n, last: 0, known: new Set(), days: new Map() })
const partOf = (money) => (smaller(money, FULL_MONEY) * FULL_PART) / FULL_MONEY

// Steps 1 and 2: reads the rows that count and adds them up by buyer and listing.
async function readRows(path, payees) {
  const asOf = Date.parse(payees.as_of)
  const seeds = new Set(payees.seeds)
  const owners = new Map(payees.payees.map((p) => [inCase(p.payee, p.payee), p.owner]))
  const buyers = new Map()
  const sharing = new Map() // by listing: the most listings of any row that has it
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const row = JSON.parse(line)
    const time = Date.parse(row.at)
    if (!counts(row, time, asOf)) continue
    const payer = inCase(row.network, row.payer)
    const seller = owners.get(inCase(row.network, `${row.network}:${row.payee}`))
    const known = seeds.has(seller)
    const amount = BigInt(row.usd_micro)
    if (!buyers.has(payer)) buyers.set(payer, { gave: 0n, paid: new Map(), shops: new Map() })
    const buyer = buyers.get(payer)
    if (known) {
      buyer.gave += amount
      addTo(buyer.paid, seller, amount)
    }
    for (const listing of row.listings) {
      sharing.set(listing, Math.max(sharing.get(listing) ?? 1, row.listings.length))
      if (!buyer.shops.has(listing)) buyer.shops.set(listing, newShop())
      const shop = buyer.shops.get(listing)
      shop.payments += 1n
      shop.dollars += amount
      shop.last = Math.max(shop.last, time)
      if (known) shop.known.add(seller)
      else addTo(shop.days, row.at.slice(0, 10), amount / BigInt(row.listings.length))
    }
  }
  return { asOf, buyers, sharing }
}

// Step 3: how many known sellers enough was paid to.
function countMeasured(buyers) {
  const paid = new Map()
  for (const buyer of buyers.values())
    for (const [seller, amount] of buyer.paid) addTo(paid, seller, smaller(amount, FULL_MONEY))
  return [...paid.values()].filter((amount) => amount >= MEASURED_MONEY).length
}

// Step 5: the square of what a buyer paid here, limited by day and in all.
function claimOf(shop) {
  let custom = 0n
  for (const amount of shop.days.values()) custom += smaller(amount, DAY_LIMIT)
  return smaller(custom, CUSTOM_LIMIT) ** 2n
}

// Steps 4 to 6: the part of one buyer at each listing it paid.
function partsOf(buyer) {
  const parts = new Map()
  const claims = []
  for (const [listing, shop] of buyer.shops) {
    if (shop.days.size > 0) claims.push({ listing, claim: claimOf(shop) })
  }
  claims.sort((a, b) => bySize(b.claim, a.claim))
  let left = buyer.gave
  let all = claims.reduce((sum, { claim }) => sum + claim, 0n)
  for (const { listing, claim } of claims) {
    const share = all === 0n ? 0n : (left * claim) / all
    parts.set(listing, partOf(share))
    if (share >= FULL_MONEY) {
      left -= FULL_MONEY
      all -= claim
    }
  }
  // At a known seller's own listing, what the buyer paid that seller does not vouch.
  for (const [listing, shop] of buyer.shops) {
    if (shop.known.size === 0) continue
    let others = buyer.gave
    for (const seller of shop.known) others -= buyer.paid.get(seller)
    parts.set(listing, partOf(others))
  }
  return parts
}

// Steps 8 to 11 and the formula: the score of one listing, or null.
function scoreOf(entries, shared, asOf) {
  const dollars = entries.map((entry) => entry.dollars).sort(bySize)
  let total = dollars.reduce((sum, amount) => sum + amount, 0n)
  let largest = dollars.at(-1)
  if (dollars.length >= 3 && largest > total - largest) {
    largest = total - largest
    total = 2n * largest
  }
  const weighted = entries.reduce((sum, entry) => sum + entry.part * entry.payments, 0n)
  const B = Number(entries.reduce((sum, entry) => sum + entry.part, 0n)) / 1e6
  const N = Number(weighted) / 1e6 / shared
  const V = Number(total) / 1e6 / shared
  if (B < 0.5) return null
  const c = V === 0 ? 0 : Math.min(1, Math.max(Number(largest) / Number(total), 1 / B))
  const last = entries.reduce((latest, entry) => Math.max(latest, entry.last), 0)
  const days = (asOf - last) / 86_400_000
  const sat = (x, k) => Math.min(1, Math.log(1 + x) / Math.log(1 + k))
  const base = 0.6 * sat(B, 100) + 0.25 * sat(N, 1000) + 0.15 * sat(V, 1000)
  const recency = days <= 7 ? 1 : 1 - (0.5 * (days - 7)) / 23
  return Math.round(100 * base * (1 - 0.5 * c) * recency * (B / (B + 3)))
}

async function main(paymentsPath, payeesPath) {
  const payees = JSON.parse(readFileSync(payeesPath, 'utf8'))
  const { asOf, buyers, sharing } = await readRows(paymentsPath, payees)
  const isRule = countMeasured(buyers) >= 3
  const listings = new Map()
  for (const [payer, buyer] of buyers) {
    const parts = isRule ? partsOf(buyer) : null
    for (const [listing, shop] of buyer.shops) {
      const part = parts ? parts.get(listing) : FULL_PART
      if (part === 0n) continue
      const dollars = (smaller(shop.dollars, DOLLAR_LIMIT) * part) / FULL_PART // step 7
      const payments = smaller(shop.payments, PAYMENT_LIMIT)
      if (!listings.has(listing)) listings.set(listing, [])
      listings.get(listing).push({ payer, part, payments, dollars, last: shop.last })
    }
  }
  for (const [listing, entries] of listings) {
    const score = scoreOf(entries, sharing.get(listing), asOf)
    const parts = Object.fromEntries(entries.map(({ payer, part }) => [payer, Number(part)]))
    process.stdout.write(`${JSON.stringify({ listing, score, buyers: parts })}\n`)
  }
}

if (process.argv.length !== 4) throw new Error('Please name payments.ndjson and payees.json')
await main(...process.argv.slice(2))
