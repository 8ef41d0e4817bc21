import { expect, test } from 'vitest'
import { toSellerHeaders } from '../../src/domain/relay/relayed-headers.ts'

test.each([
  'X-Vercel-Forwarded-For',
  'X-Nf-Client-Connection-Ip',
  'Do-Connecting-Ip',
  'WL-Proxy-Client-IP',
  'X-ProxyUser-Ip',
])('%s, which tells where a caller is, does not reach the seller', (name) => {
  const raw = [name, '198.51.100.7', 'X-Own', 'stays']
  expect(toSellerHeaders(raw, 'https://waypost.example')).toEqual(['X-Own', 'stays'])
})
