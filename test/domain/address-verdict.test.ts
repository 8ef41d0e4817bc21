import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { judgeAddress } from '../../src/domain/relay/address-verdict.ts'

/** Verdict, then addresses: first and last of each block, and the neighbours just outside. */
const TABLE: readonly (readonly [verdict: string, addresses: string])[] = [
  ['allowed', '1.0.0.0 1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 93.184.215.14 100.63.255.255'],
  ['allowed', '100.128.0.0 126.255.255.255 128.0.0.0 168.63.129.15 168.63.129.17 169.253.255.255'],
  ['allowed', '169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.1.255'],
  ['allowed', '192.0.3.0 192.31.195.255 192.31.197.0 192.52.192.255 192.52.194.0 192.88.98.255'],
  ['allowed', '192.88.100.0 192.167.255.255 192.169.0.0 192.175.47.255 192.175.49.0'],
  ['allowed', '198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0'],
  ['allowed', '223.255.255.255 104.16.0.1 52.95.110.1 34.117.59.81 151.101.1.140 185.199.108.153'],
  ['unspecified', '0.0.0.0 0.0.0.1 0.1.2.3 0.255.255.255'],
  ['private', '10.0.0.0 10.0.0.1 10.1.2.3 10.255.255.255'],
  ['private', '172.16.0.0 172.17.0.1 172.20.10.1 172.31.255.255'],
  ['private', '192.168.0.0 192.168.0.1 192.168.1.254 192.168.255.255'],
  ['shared_address_space', '100.64.0.0 100.64.0.1 100.100.100.200 100.127.255.255'],
  ['loopback', '127.0.0.0 127.0.0.1 127.0.0.2 127.0.1.1 127.255.255.254 127.255.255.255'],
  ['cloud_metadata', '168.63.129.16'],
  ['link_local', '169.254.0.0 169.254.0.1 169.254.169.254 169.254.170.2 169.254.169.253'],
  ['link_local', '169.254.255.255'],
  ['protocol_assignment', '192.0.0.0 192.0.0.8 192.0.0.9 192.0.0.10 192.0.0.170 192.0.0.192'],
  ['protocol_assignment', '192.0.0.255'],
  ['documentation', '192.0.2.0 192.0.2.1 192.0.2.255 198.51.100.0 198.51.100.77 198.51.100.255'],
  ['documentation', '203.0.113.0 203.0.113.5 203.0.113.255'],
  ['anycast_service', '192.31.196.0 192.31.196.255 192.52.193.0 192.52.193.255'],
  ['anycast_service', '192.175.48.0 192.175.48.1 192.175.48.255'],
  ['six_to_four', '192.88.99.0 192.88.99.1 192.88.99.255'],
  ['benchmarking', '198.18.0.0 198.18.0.1 198.18.255.255 198.19.0.0 198.19.255.255'],
  ['multicast', '224.0.0.0 224.0.0.1 224.0.0.251 233.252.0.1 239.255.255.250 239.255.255.255'],
  ['reserved', '240.0.0.0 240.0.0.1 247.1.2.3 255.255.255.254 250.250.250.250'],
  ['broadcast', '255.255.255.255'],

  ['allowed', '2000:: 2000::1 2001:200::1 2001:4860:4860::8888 2001:db7:ffff::1 2001:db9::1'],
  ['allowed', '2003::1 2400:cb00::1 2606:4700:4700::1111 2600:1f18::1 2620:4f:7fff::1'],
  ['allowed', '2620:4f:8001::1 2a00:1450:4001:81b::200e 2a04:4e42::644 2c0f:fb50::1 3ffd::1'],
  ['allowed', '3fff:1000::1 2620:fe::fe 2001:500:88:200::8 2a03:2880:f12f:83:face:b00c:0:25de'],
  ['unspecified', ':: 0:0:0:0:0:0:0:0 0000:0000:0000:0000:0000:0000:0000:0000 ::0.0.0.0'],
  ['loopback', '::1 0:0:0:0:0:0:0:1 ::0.0.0.1 0000::0001'],
  [
    'ipv4_mapped',
    '::ffff:0:0 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::FFFF:169.254.169.254',
  ],
  ['ipv4_mapped', '::ffff:8.8.8.8 0:0:0:0:0:ffff:0808:0808 ::ffff:ffff:ffff'],
  ['ipv4_translated', '::ffff:0:127.0.0.1 ::ffff:0:7f00:1 ::ffff:0:8.8.8.8'],
  ['ipv4_compatible', '::2 ::127.0.0.1 ::7f00:1 ::10.0.0.1 ::8.8.8.8 ::a9fe:a9fe ::ffff:ffff'],
  ['nat64', '64:ff9b:: 64:ff9b::7f00:1 64:ff9b::127.0.0.1 64:ff9b::8.8.8.8 64:ff9b::ffff:ffff'],
  ['nat64', '64:ff9b:1:: 64:ff9b:1::a9fe:a9fe 64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
  ['discard', '100:: 100::1 100::ffff:ffff:ffff:ffff'],
  ['dummy_prefix', '100:0:0:1:: 100:0:0:1::1 100:0:0:1:ffff:ffff:ffff:ffff'],
  ['teredo', '2001:: 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:0:ffff::1'],
  ['protocol_assignment', '2001:1::1 2001:1::2 2001:3::1 2001:4:112::1 2001:5::1 2001:1ff::1'],
  ['protocol_assignment', '2001:30::1 2001:40::1 2001:100::'],
  ['benchmarking', '2001:2:: 2001:2::1 2001:2:0:ffff:ffff:ffff:ffff:ffff'],
  ['orchid', '2001:10::1 2001:1f:ffff::1 2001:20:: 2001:20::1 2001:2f:ffff::1'],
  ['documentation', '2001:db8:: 2001:db8::1 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['documentation', '3fff:: 3fff::1 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['six_to_four', '2002:: 2002:7f00:1:: 2002:a9fe:a9fe::1 2002:808:808::1 2002:ffff::1'],
  ['anycast_service', '2620:4f:8000:: 2620:4f:8000::1 2620:4f:8000:ffff:ffff:ffff:ffff:ffff'],
  ['reserved', '3ffe:: 3ffe::1 3ffe:ffff::1'],
  ['segment_routing', '5f00:: 5f00::1 5f00:ffff::1'],
  ['unique_local', 'fc00:: fc00::1 fd00::1 fd00:ec2::254 fd12:3456:789a:1::1'],
  ['unique_local', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['link_local', 'fe80:: fe80::1 fe80::a9fe:a9fe febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['site_local', 'fec0:: fec0::1 feff:ffff::1'],
  ['multicast', 'ff00:: ff01::1 ff02::1 ff02::fb ff05::2 ff0e::1 ffff::1'],
  [
    'not_global_unicast',
    '200::1 400::1 1000::1 1fff:ffff::1 4000:: 4000::1 5eff::1 5f01::1 6000::1',
  ],
  ['not_global_unicast', '8000::1 a000::1 c000::1 e000::1 f000::1 f800::1 fbff::1 fe00::1 fe7f::1'],
  ['not_global_unicast', '64:ff9a::1 64:ff9b:2::1 64:ff9b:0:0:0:1:0:1 100:0:0:2::1 ::1:0:0:1'],
  ['not_global_unicast', '0:0:1::1 ::fffe:7f00:1 ::1:ffff:7f00:1 101::1 ff::1'],

  ['not_an_address', 'localhost example.com 127.1 127.0.1 2130706433 0x7f000001 0177.0.0.1 0'],
  ['not_an_address', '127.0.0.01 127.0.0.256 127.0.0.1. .127.0.0.1 127.0.0.1.1 1.2.3 +1.2.3.4'],
  ['not_an_address', '0x7f.0.0.1 127.0.0.0x1 1e1.0.0.1 -1.0.0.0 ①②⑦.0.0.1 127。0。0。1'],
  [
    'not_an_address',
    '[::1] [127.0.0.1] ::1%lo fe80::1%eth0 ::1/128 1:2:3:4:5:6:7 1:2:3:4:5:6:7:8:9',
  ],
  ['not_an_address', '1::2::3 ::: :1 1: 12345::1 ::g ::127.0.0.1:1 ::127.0.1 1.2.3.4::'],
  ['not_an_address', '::ffff:127.0.0.256 ::ffff:127.0.0.01 1:2:3:4:5:6:7:1.2.3.4'],
]

const ROWS = TABLE.flatMap(([verdict, list]) =>
  list.split(' ').map((address) => ({ verdict, address })),
)

describe('the address guard', () => {
  test('has a table of at least 200 addresses', () => {
    expect(new Set(ROWS.map(({ address }) => address)).size).toBeGreaterThanOrEqual(200)
  })

  test.each(ROWS)('$address is $verdict', ({ verdict, address }) => {
    const judged = judgeAddress(address, { allowPrivate: false })
    expect(judged.allowed ? 'allowed' : judged.reason).toBe(verdict)
  })

  test.each(['', ' 8.8.8.8', '8.8.8.8 ', '8.8.8.8\0', '8.8.8.8\n', '1.1.1.1,8.8.8.8'])(
    'the text %j is not an address',
    (text) => {
      expect(judgeAddress(text, { allowPrivate: false })).toMatchObject({
        reason: 'not_an_address',
      })
    },
  )

  test('an IPv6 address gets the same verdict in every spelling', () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        const canonical = new URL(`http://[${text}]/`).hostname.slice(1, -1)
        expect(judgeAddress(text, { allowPrivate: false })).toEqual(
          judgeAddress(canonical, { allowPrivate: false }),
        )
      }),
    )
  })

  test('no IPv4 address is let in through a form that carries it inside IPv6', () => {
    fc.assert(
      fc.property(
        fc.ipV4(),
        fc.constantFrom('::', '::ffff:', '::ffff:0:', '64:ff9b::', '64:ff9b:1::'),
        (address, prefix) => {
          expect(judgeAddress(prefix + address, { allowPrivate: false }).allowed).toBe(false)
        },
      ),
    )
  })
})

describe('under the trial setting', () => {
  const rules = { allowPrivate: true }

  test.each(['127.0.0.1', '::1', '10.0.0.1', '192.168.1.1', 'fd00::1', '8.8.8.8'])(
    '%s is allowed',
    (address) => expect(judgeAddress(address, rules)).toEqual({ allowed: true }),
  )

  test.each(['169.254.169.254', '168.63.129.16', '0.0.0.0', '::ffff:127.0.0.1', 'ff02::1'])(
    '%s stays refused',
    (address) => expect(judgeAddress(address, rules).allowed).toBe(false),
  )
})
