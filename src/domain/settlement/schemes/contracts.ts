/**
 * Contracts of x402's batch settlement and auth-capture, which hold a buyer's money and may return
 * it, with the collectors that pass it on; by version of the packages, lower case. An address fixes
 * the code on every EVM chain. What waits there was not paid to anybody yet.
 */
export const DEPOSIT_PLACES: readonly string[] = [
  // Batch settlement, 2.12 and later; it collects by EIP-3009 and by Permit2.
  '0x4020074e9df2ce1dee5a9c1b5c3f541d02a10003',
  '0x4020806089470a89826cb9fb1f4059150b550004',
  '0x4020425faf3b746c082c2f942b4e5159887b0005',
  // Auth-capture, v1.1.
  '0xf96815976523e00e65be8f34ca5e64b4f41eb19c',
  '0x8612dfdc421f80336cd14e8ef9cb1e765db5ab88',
  '0xd69831aed5bfe262067ec4c751f4f830ecdd446e',
  // Auth-capture, v1.0.
  '0xbdea0d1bcc5966192b070fdf62ab4ef5b4420cff',
  '0x0e3df9510de65469c4518d7843919c0b8c7a7757',
  '0x992476b9ee81d52a5bda0622c333938d0af0ab26',
]
