import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createGuardedConnector, type GuardOptions } from '../../functions/net/guard.ts'
import type { ResolvedAddress, Resolver } from '../../functions/net/resolver.ts'
import { IS_LONG } from '../support/long.ts'

/** The address a seller answers on, and one on the same port that nothing may ever reach. */
const SELLER = '127.0.0.2'
const CANARY = '127.0.0.1'

let seller: Server
let canary: Server
let port: number
let canaryHits = 0
let sellerHits = 0

beforeAll(async () => {
  seller = createServer((_req, res) => {
    sellerHits += 1
    res.end('seller')
  })
  await new Promise<void>((resolve) => seller.listen(0, SELLER, resolve))
  port = (seller.address() as AddressInfo).port // a listening TCP server has an AddressInfo
  canary = createServer((_req, res) => res.end('canary'))
  canary.on('connection', () => {
    canaryHits += 1
  })
  await new Promise<void>((resolve) => canary.listen(port, CANARY, resolve))
})

afterAll(() => {
  seller.close()
  canary.close()
})

function answering(addresses: (host: string) => string[]): Resolver {
  return {
    addresses: async (host) =>
      addresses(host).map(
        (address): ResolvedAddress => ({ address, family: address.includes(':') ? 6 : 4 }),
      ),
    txt: async () => [],
  }
}

type Options = Omit<GuardOptions, 'purpose' | 'connectTimeoutMs'> & Partial<GuardOptions>
const createAgent = (options: Options) => {
  const guard: GuardOptions = { purpose: 'probe', connectTimeoutMs: 10_000, ...options }
  return new Agent({ connect: createGuardedConnector(guard), pipelining: 0 })
}

async function outcomeOf(url: string, options: Options): Promise<string> {
  const dispatcher = createAgent(options)
  try {
    const answer = await request(url, { dispatcher })
    return await answer.body.text()
  } catch (error) {
    const { code, reason } = Object(error)
    return [code, reason].filter(Boolean).join(' ')
  } finally {
    await dispatcher.destroy()
  }
}

const never = answering(() => {
  throw new Error('the resolver was asked for a literal address')
})

describe('literal addresses are judged without the resolver', () => {
  const rows = [
    ['127.0.0.1', 'loopback'],
    ['127.1', 'loopback'],
    ['2130706433', 'loopback'],
    ['0x7f000001', 'loopback'],
    ['0177.0.0.1', 'loopback'],
    ['①②⑦.⓪.⓪.①', 'loopback'],
    ['127。0。0。1', 'loopback'],
    ['%31%32%37.0.0.1', 'loopback'],
    ['169.254.169.254', 'link_local'],
    ['2852039166', 'link_local'],
    ['0251.0376.0251.0376', 'link_local'],
    ['0xa9.0xfe.0xa9.0xfe', 'link_local'],
    ['168.63.129.16', 'cloud_metadata'],
    ['0', 'unspecified'],
    ['[::]', 'unspecified'],
    ['[::1]', 'loopback'],
    ['[::127.0.0.1]', 'ipv4_compatible'],
    ['[::ffff:127.0.0.1]', 'ipv4_mapped'],
    ['[0:0:0:0:0:ffff:7f00:1]', 'ipv4_mapped'],
    ['[64:ff9b:1::a9fe:a9fe]', 'nat64'],
    ['[64:ff9b::7f00:1]', 'nat64'],
    ['[2002:7f00:1::]', 'six_to_four'],
    ['[fd00:ec2::254]', 'unique_local'],
  ] as const

  test.each(rows)('%s: %s', async (host, reason) => {
    const outcome = await outcomeOf(`http://${host}:${port}/`, {
      resolver: never,
      allowPrivate: false,
    })
    expect(outcome).toBe(`ADDRESS_REFUSED ${reason}`)
    expect(canaryHits).toBe(0)
  })
})

describe('names', () => {
  test.each([
    [['127.0.0.1'], 'loopback'],
    [['8.8.8.8', '127.0.0.1'], 'loopback'],
    [['8.8.8.8', '2606:4700::1111', '10.0.0.1'], 'private'],
    [[...Array.from({ length: 200 }, (_, n) => `8.8.4.${n}`), '192.168.0.1'], 'private'],
    [['8.8.8.8', '::ffff:127.0.0.1'], 'ipv4_mapped'],
    [['8.8.8.8', 'fe80::1%eth0'], 'not_an_address'],
    [['not an address'], 'not_an_address'],
  ])('answers %j are refused: every answer is judged', async (answers, reason) => {
    const outcome = await outcomeOf(`http://seller.example:${port}/`, {
      resolver: answering(() => answers),
      allowPrivate: false,
    })
    expect(outcome).toBe(`ADDRESS_REFUSED ${reason}`)
  })

  test('localhost is refused by name too', async () => {
    const { createResolver } = await import('../../functions/net/resolver.ts')
    for (const host of ['localhost', 'LOCALHOST.', 'a.localhost']) {
      const resolver = createResolver(['127.0.0.1:1'])
      const outcome = await outcomeOf(`http://${host}:${port}/`, { resolver, allowPrivate: false })
      expect(outcome).toBe('ADDRESS_REFUSED loopback')
    }
  })

  test('no answer at all is an error, not a connection', async () => {
    const outcome = await outcomeOf(`http://seller.example:${port}/`, {
      resolver: answering(() => []),
      allowPrivate: true,
    })
    expect(outcome).toBe('ENOTFOUND')
  })

  test('a resolver that never answers ends at the deadline', async () => {
    const silent: Resolver = { addresses: () => new Promise(() => {}), txt: async () => [] }
    const outcome = await outcomeOf(`http://seller.example:${port}/`, {
      resolver: silent,
      allowPrivate: true,
      connectTimeoutMs: 50,
    })
    expect(outcome).toBe('CONNECT_TIMEOUT')
  })

  test('of several judged addresses the next is tried when one does not answer', async () => {
    const outcome = await outcomeOf(`http://seller.example:${port}/`, {
      resolver: answering(() => ['127.0.0.9', '::1', SELLER]),
      allowPrivate: true,
    })
    expect(outcome).toBe('seller')
    expect(canaryHits).toBe(0)
  })

  test('an address of our own is refused whatever the setting', async () => {
    const outcome = await outcomeOf(`http://seller.example:${port}/`, {
      resolver: answering(() => [CANARY]),
      allowPrivate: true,
      isOwnAddress: (address, target) => address === CANARY && target === port,
    })
    expect(outcome).toBe('OWN_ADDRESS')
  })
})

const CALLS = IS_LONG ? 4_000 : 400
test('a rebinding name never reaches the canary in hundreds of calls', {
  timeout: 240_000,
}, async () => {
  const before = sellerHits
  let requested = 0
  let calls = 0
  // Odd questions get the seller, even ones the canary: a guard that resolved a second time to
  // dial, or trusted an earlier verdict, would sooner or later dial the canary.
  const resolver = answering(() => {
    requested += 1
    return requested % 2 === 1 ? [SELLER] : [CANARY]
  })
  const dispatcher = createAgent({
    resolver,
    allowPrivate: true,
    isOwnAddress: (address) => address === CANARY,
  })
  const outcomes = { seller: 0, refused: 0 }
  const caller = async () => {
    while (calls < CALLS) {
      calls += 1
      const body = await request(`http://rebind.example:${port}/`, { dispatcher })
        .then((answer) => answer.body.text())
        .catch((error: unknown) => Object(error).code)
      if (body === 'seller') outcomes.seller += 1
      if (body === 'OWN_ADDRESS') outcomes.refused += 1
    }
  }
  await Promise.all(Array.from({ length: 16 }, caller))
  await dispatcher.destroy()
  expect(canaryHits).toBe(0)
  expect(outcomes.seller + outcomes.refused).toBe(calls)
  expect(outcomes.refused).toBeGreaterThan(CALLS / 4)
  expect(sellerHits - before).toBe(outcomes.seller)
  expect(requested).toBe(calls)
})
