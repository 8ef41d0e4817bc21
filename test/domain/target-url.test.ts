import { describe, expect, test } from 'vitest'
import {
  findUrlFault,
  isIpHost,
  isPlaceholderHost,
  isTunnelHost,
} from '../../src/domain/listing/target-url.ts'

const publicly = (text: string) => findUrlFault(text, { allowPrivate: false })
const privately = (text: string) => findUrlFault(text, { allowPrivate: true })

const GOOD = [
  'https://api.weather.example',
  'https://api.weather.example/',
  'https://API.Weather.Example/Now',
  'HTTPS://api.weather.example/now',
  'https://api.weather.example/now?city=Z%C3%BCrich&unit=C#current',
  'https://api.weather.example/.well-known/agent.json',
  'https://api.weather.example/v1/models/x:predict',
  'https://api.weather.example/a..b/...',
  'https://api.weather.example/über/天気',
  'https://xn--mnchen-3ya.example/',
  'https://a_b.weather.example/',
  'https://api.weather.example/?next=https://user@evil.example/',
  `https://api.weather.example/${'a'.repeat(1970)}`,
]

/** One row for each defect, with what the message must say; the rows of one defect stand together. */
const BAD: [string, RegExp, string[]][] = [
  [
    'a scheme other than https',
    /expected an https URL, got http$|starts with https:/,
    [
      'http://api.weather.example/',
      'HTTP://api.weather.example/',
      'ftp://api.weather.example/',
      'wss://api.weather.example/',
      'file:///etc/passwd',
      'gopher://127.0.0.1:6379/_PING',
      'data:text/html,x',
      'javascript:alert(1)',
      'JaVaScRiPt:alert(1)//https://',
      'blob:https://api.weather.example/1',
      'view-source:https://api.weather.example/',
    ],
  ],
  [
    'no absolute URL',
    /expected an absolute URL/,
    [
      '',
      'vulert.com',
      '/now',
      '//evil.example/',
      'https:api.weather.example',
      'https:/api.weather.example',
      'https://',
      'https:///evil.example',
      'https://[fe80::1%25eth0]/',
      'https://api.weather.example:65536/',
      'https://api.weather.example:443:80/',
    ],
  ],
  [
    'a user or a password',
    /no user name or password/,
    [
      'https://user@api.weather.example/',
      'https://user:pass@api.weather.example/',
      'https://:pass@api.weather.example/',
      'https://api.weather.example@evil.example/',
      'https://api.weather.example%2f@evil.example/',
    ],
  ],
  [
    'a port',
    /expected no port|in the form that clients use/,
    [
      'https://api.weather.example:22/',
      'https://api.weather.example:0/',
      'https://api.weather.example:8443/',
      'https://api.weather.example:443/',
      'https://api.weather.example:/',
    ],
  ],
  [
    'an IPv4 address, however it is spelled',
    /got the address (?:127\.0\.0\.1|0\.0\.0\.0|169\.254\.169\.254|72\.62\.52\.171)$/,
    [
      'https://127.0.0.1/',
      'https://127.1/',
      'https://2130706433/',
      'https://0x7f000001/',
      'https://0x7f.1/',
      'https://0177.0.0.1/',
      'https://127.0.0.1./',
      'https://0/',
      'https://①②⑦.⓪.⓪.①/',
      'https://127。0。0。1/',
      'https://%31%32%37.0.0.1/',
      'https://169.254.169.254/latest/meta-data',
      'https://2852039166/',
      'https://0251.0376.0251.0376/',
      'https://72.62.52.171/',
    ],
  ],
  [
    'an IPv6 address',
    /got the address \[/,
    [
      'https://[::]/',
      'https://[::1]/',
      'https://[::ffff:7f00:1]/',
      'https://[::127.0.0.1]/',
      'https://[64:ff9b::7f00:1]/',
      'https://[2002:7f00:1::]/',
      'https://[fd00:ec2::254]/',
      'https://[2606:4700::1111]/',
    ],
  ],
  [
    'a name that is not public',
    /expected a public host/,
    [
      'https://localhost/',
      'https://weather/',
      'https://metadata.google.internal/',
      'https://printer.local/',
      'https://nas.lan/',
      'https://router.home.arpa/',
      'https://a.localhost/',
      'https://a.test/',
      'https://a.invalid/',
      'https://abc.onion/',
      'https://127.0.0.1.nip.io/',
      'https://10-0-0-1.sslip.io/',
      'https://localtest.me/',
    ],
  ],
  [
    'a host that is not a plain name',
    /expected a plain host name/,
    [
      'https://LOCALHOST./',
      'https://metadata.google.internal./',
      'https://api.weather.example./',
      'https://api.weather.example../',
      'https://api..weather.example/',
      "https://api'.weather.example/",
      'https://api!.weather.example/',
      `https://${'a'.repeat(64)}.weather.example/`,
    ],
  ],
  [
    'a host that clients read otherwise',
    /in the form that clients use, (?:xn--80ak6aa92e\.example|api\.weather\.example|xn--mnchen-3ya\.example|api\.book\.example),/,
    [
      'https://\u0430\u0440\u0440\u04cf\u0435.example/',
      'https://münchen.example/',
      'https://api.boo\u212A.example/',
      'https://api。weather.example/',
      'https://ａｐｉ.weather.example/',
      'https://api%2eweather.example/',
      'https://%61pi.weather.example/',
    ],
  ],
  [
    'spaces, controls and what cannot be seen',
    /no spaces, control or invisible/,
    [
      '[NOT GIVEN]',
      ' https://api.weather.example/',
      'https://api.weather.example/ ',
      'https://api.weather.example/a b',
      'https://api.weather.example/\t',
      'https://api.wea\nther.example/',
      'https://api.weather.example/\u0000',
      'https://api.weather.example/\u202egnp.exe',
      'https://api.weather\u200b.example/',
      'https://api.weather\u00ad.example/',
      'https://api.weather.example/\u00a0',
      'https://api.weather.example/\u3000',
      'https://api.weather.example/\u{e0041}',
    ],
  ],
  [
    'a template that nobody can call',
    /got a template/,
    [
      'https://api.weather.example/{city}',
      'https://api.weather.example/%7Bcity%7D',
      'https://api.weather.example/%7bcity%7d/now',
      'https://api.weather.example/<city>',
      'https://api.weather.example/sse?key=<YOUR_TOKEN>',
      'https://api.weather.example/sse?key=%3CYOUR_TOKEN%3E',
      'https://api.weather.example/sse?key=YOUR_API_KEY',
      'https://api.weather.example/sse?token=your-token',
      'https://api.weather.example/:city/now',
      'https://api.weather.example/v1/:publicationSlug/:postSlug',
      'https://{tenant}.weather.example/',
    ],
  ],
  [
    'characters that clients repair',
    /percent-encode them/,
    [
      'https:\\\\evil.example',
      'https://api.weather.example\\@evil.example',
      'https://api.weather.example/a|b',
      'https://api.weather.example/a^b',
      'https://api.weather.example/`id`',
      'https://api.weather.example/"onload="x',
    ],
  ],
  [
    'a path that climbs',
    /without \. and \.\. segments/,
    [
      'https://api.weather.example/../etc/passwd',
      'https://api.weather.example/a/./b',
      'https://api.weather.example/a/%2e%2E/b',
      'https://api.weather.example/a/..',
    ],
  ],
  [
    'more than 2,000 characters',
    /at most 2000 characters, got 2029/,
    [`https://api.weather.example/${'a'.repeat(2001)}`],
  ],
]

describe('a public URL', () => {
  test.each(GOOD)('%s is fine', (text) => {
    expect(publicly(text)).toBeNull()
  })

  const rows = BAD.flatMap(([defect, message, texts]) =>
    texts.map((text) => [text.slice(0, 70), defect, message, text] as const),
  )
  test.each(rows)('%j is refused: %s', (_, _defect, message, text) => {
    expect(publicly(text)).toMatch(message)
  })
})

describe('with private targets allowed', () => {
  test.each([
    'http://127.0.0.1:4000/weather',
    'http://127.0.0.1:4000',
    'http://localhost:4000/',
    'http://[::1]:4000/',
    'https://printer.local:8443/',
    'https://api.weather.example/',
  ])('%s is fine', (text) => {
    expect(privately(text)).toBeNull()
  })

  test.each([
    'ftp://127.0.0.1/',
    'http://user@127.0.0.1:4000/',
    'http://127.1:4000/',
    'http://127.0.0.1:4000/{id}',
    'http://127.0.0.1:4000/../x',
    'http://127.0.0.1:4000/a b',
  ])('%s is refused all the same', (text) => {
    expect(privately(text)).not.toBeNull()
  })
})

describe('hosts', () => {
  test.each([
    ['[::1]', true],
    ['10.0.0.1', true],
    ['1.2.3', false],
    ['10.0.0.1.nip.io', false],
  ])('%s is an address: %s', (host, expected) => {
    expect(isIpHost(host)).toBe(expected)
  })

  test.each([
    ['zoning-amsterdam.trycloudflare.com', true],
    ['abc.ngrok-free.app', true],
    ['trycloudflare.com', true],
    ['nottrycloudflare.com', false],
    ['trycloudflare.com.weather.example', false],
  ])('%s is a tunnel: %s', (host, expected) => {
    expect(isTunnelHost(host)).toBe(expected)
  })

  test.each([
    ['weatherbot.example.com', true],
    ['api.weather.example', true],
    ['example.org', true],
    ['myexample.com', false],
  ])('%s is a placeholder: %s', (host, expected) => {
    expect(isPlaceholderHost(host)).toBe(expected)
  })
})
