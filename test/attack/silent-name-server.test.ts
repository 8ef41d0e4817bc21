import { createHook } from 'node:async_hooks'
import { readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { request } from 'undici'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  createAddressLookup,
  createHostsFile,
  createResolver,
} from '../../functions/net/resolver.ts'
import { problemOf } from '../call/problem-of.ts'
import { aListing, type RelayWorld, startRelay } from '../call/relay-world.ts'
import { type DnsServer, startDnsServer } from '../support/dns-server.ts'
import { type Site, startSite } from '../support/site.ts'
import { tempFolder } from '../support/temp-folder.ts'

/** Look-ups that are answered may take as long as they need. */
const LIMITS = { deadlineMs: 59_000, otherFamilyMs: 50, failureMs: 60_000, failures: 3 }

let names: DnsServer
beforeEach(async () => {
  names = await startDnsServer()
  names.a.set('good.example', ['127.0.0.1'])
})
afterEach(() => {
  vi.useRealTimers()
  names.close()
})

const queriesFor = (name: string) => names.queries.filter((query) => query.endsWith(` ${name}`))

/** Shorter than the relay waits for a connection. */
const DEADLINE_MS = 5000

describe('twelve calls to a listing whose name server is silent', () => {
  let seller: Site
  let world: RelayWorld
  let requested = 0
  beforeEach(async () => {
    requested = 0
    names.silentFor.add('silent.example')
    seller = await startSite((_req, res) => res.end('paid'))
    world = await startRelay({
      listings: [
        aListing(`http://silent.example:${seller.port}/`, { id: 'x402.silent' }),
        aListing(`http://good.example:${seller.port}/`, { id: 'x402.good' }),
      ],
      resolver: createResolver(
        undefined,
        createAddressLookup([names.address], { ...LIMITS, deadlineMs: DEADLINE_MS }),
        async () => [],
      ),
      onRequest: () => {
        requested += 1
      },
    })
  })
  afterEach(async () => {
    await world.close()
    await seller.close()
  })

  test('hold up no other seller, ask once between them, and end when their time is up', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const over: number[] = []
    const stuck = Array.from({ length: 12 }, async () => {
      const answer = await request(`${world.url}/x402.silent`)
      over.push(answer.statusCode)
      return problemOf(answer)
    })
    await expect.poll(() => requested).toBe(12)
    await expect.poll(() => queriesFor('silent.example').length).toBe(2)
    const good = await request(`${world.url}/x402.good`)
    expect([good.statusCode, await good.body.text()]).toEqual([200, 'paid'])
    expect(over).toEqual([])
    vi.advanceTimersByTime(DEADLINE_MS)
    for (const problem of await Promise.all(stuck))
      expect(problem).toMatchObject({ code: 'seller-timeout' })
    expect(over).toEqual(Array(12).fill(504))
    // One query a family, once.
    expect(queriesFor('silent.example').sort()).toEqual(['A silent.example', 'AAAA silent.example'])
    const again = await request(`${world.url}/x402.silent`)
    expect(again.statusCode).toBe(504)
    expect(again.headers['proxy-status']).toContain('dns_timeout')
    await again.body.dump()
    expect(queriesFor('silent.example')).toHaveLength(2)
  })
})

describe('look-ups', () => {
  test('end when given up: nothing is asked after the deadline', async () => {
    names.silentFor.add('silent.example')
    const lookup = createAddressLookup([names.address], { ...LIMITS, deadlineMs: 100 })
    await expect(lookup('silent.example')).rejects.toMatchObject({ code: 'ETIMEOUT' })
    // One query a family was sent; c-ares would try again after two seconds.
    await expect.poll(() => queriesFor('silent.example').length).toBe(2)
    await new Promise((resolve) => setTimeout(resolve, 2500))
    expect(queriesFor('silent.example')).toHaveLength(2)
  })

  test('of a name whose IPv6 query is never answered give the IPv4 addresses', async () => {
    names.silentAboutIpv6.add('good.example')
    const lookup = createAddressLookup([names.address], LIMITS)
    expect(await lookup('good.example')).toEqual([{ address: '127.0.0.1', family: 4 }])
  })

  test('that fail are remembered for a moment and no longer, and not all of them', async () => {
    let now = 0
    const lookup = createAddressLookup([names.address], LIMITS, () => now)
    const ask = (name: string) => expect(lookup(name)).rejects.toMatchObject({ code: 'ENOTFOUND' })
    await ask('one.example')
    await ask('ONE.example')
    expect(queriesFor('one.example')).toHaveLength(2)
    now = LIMITS.failureMs
    await ask('one.example')
    expect(queriesFor('one.example')).toHaveLength(4)
    for (const name of ['two', 'three', 'four']) await ask(`${name}.example`)
    await ask('one.example')
    expect(queriesFor('one.example')).toHaveLength(6)
  })

  test('that succeed are asked again each time: an address is judged when it is dialled', async () => {
    const lookup = createAddressLookup([names.address], LIMITS)
    await lookup('good.example')
    names.a.set('good.example', ['127.0.0.2'])
    expect(await lookup('good.example')).toEqual([{ address: '127.0.0.2', family: 4 }])
  })

  test("of the system's own way never take one of the process's threads", async (context) => {
    const named = readFileSync('/etc/hosts', 'utf8')
      .replaceAll(/#.*/g, '')
      .split('\n')
      .flatMap((line) => line.trim().split(/\s+/).slice(1))
      .find((name) => name !== '' && !/localhost$/i.test(name))
    if (named === undefined) return context.skip('the hosts file of this machine names nothing')
    const types = new Set<string>()
    const hook = createHook({ init: (_id, type) => void types.add(type) }).enable()
    const found = await createResolver(undefined).addresses(named)
    hook.disable()
    expect(found.length).toBeGreaterThan(0)
    expect([...types]).not.toContain('GETADDRINFOREQWRAP')
  })
})

describe('the hosts file', () => {
  const dir = tempFolder('hosts')
  const path = join(dir, 'hosts')
  afterEach(() => rmSync(path, { force: true }))

  test('gives every address of a name, whatever its spelling, and is read again when it changed', async () => {
    let now = 0
    writeFileSync(
      path,
      '# names\n10.0.0.1 db DB.internal # ours\r\n\tfd00::1   db\nnonsense db\n10.0.0.2\n',
    )
    const hosts = createHostsFile(path, () => now)
    expect(await hosts('DB.')).toEqual([
      { address: '10.0.0.1', family: 4 },
      { address: 'fd00::1', family: 6 },
    ])
    expect(await hosts('db.internal')).toEqual([{ address: '10.0.0.1', family: 4 }])
    expect(await hosts('other')).toEqual([])
    writeFileSync(path, '10.0.0.9 other\n')
    utimesSync(path, 1, 1)
    now = 1000
    expect(await hosts('other')).toEqual([{ address: '10.0.0.9', family: 4 }])
    expect(await hosts('db')).toEqual([])
  })

  test('need not exist', async () => {
    expect(await createHostsFile(join(dir, 'none'))('db')).toEqual([])
  })
})
